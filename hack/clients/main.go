// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Command clients is the programs with which others read and write boxes, for the tests of pkg/e2e: each of them
// under its own name, which a symbolic link gives it.
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
