// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Command ecosystemresults writes the page with the results of the tests with programs of the ecosystem:
//
//	ecosystemresults DIR FILE...
//
// reads the events of "go test -json" in the files, and the versions of the programs in the modules below DIR, and writes the page to
// its standard output.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

func main() {
	if err := run(os.Stdout, os.Args[1:], time.Now()); err != nil {
		fmt.Fprintln(os.Stderr, "ecosystemresults:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, arguments []string, now time.Time) error {
	if len(arguments) < 2 {
		return errors.New("want: DIR FILE [FILE...] as arguments")
	}
	programs, err := readPrograms(arguments[0])
	if err != nil {
		return err
	}
	var results []result
	for _, file := range arguments[1:] {
		of, err := readResults(file)
		if err != nil {
			return fmt.Errorf("reading the results in %s: %w", file, err)
		}
		results = append(results, of...)
	}
	return writePage(out, programs, results, now)
}
