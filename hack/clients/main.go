// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Command clients has programs that users read and write boxes with, for the tests of pkg/e2e. A symbolic link with the name of a
// program runs the program.
package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// programs read os.Args as a main does.
var programs = map[string]func() error{
	"controller-runtime": runControllerRuntime,
	"flux":               runFlux,
	"helm":               runHelm,
	"kstatus":            runKStatus,
}

func main() {
	name := filepath.Base(os.Args[0])
	run, found := programs[name]
	if !found {
		fmt.Fprintf(os.Stderr, "%s is none of %s\n", name, strings.Join(slices.Sorted(maps.Keys(programs)), ", "))
		os.Exit(2)
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}
