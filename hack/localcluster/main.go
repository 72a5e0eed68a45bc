// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Command localcluster runs a Kubernetes control plane on one machine. The binary also has every program of the control plane.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/command"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/component"
)

func main() {
	// If a symbolic link with the name of a component starts it, it runs the component.
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
