// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Command bench measures ModelBox beside its peers, on a control plane of real components that it starts.
package main

import (
	"fmt"
	"os"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/command"
)

func main() {
	if err := command.New().Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}
