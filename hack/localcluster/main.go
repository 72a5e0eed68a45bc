// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Command localcluster runs a Kubernetes control plane on one machine. It is also
// every program of that control plane.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/command"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/component"
)

func main() {
	// Under the name of a component, which a symbolic link gives it, it is that.
	if run, found := component.Named(filepath.Base(os.Args[0])); found {
		run()
		return
	}
	if len(os.Args) > 1 {
		if run, found := component.Named(os.Args[1]); found {
			os.Args = os.Args[1:]
			run()
			return
		}
	}
	if err := command.New().Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}
