// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Command mutants changes packages in many small ways, one at a time, and prints the changes that no test notices:
//
//	mutants -tests ./pkg/controller/modelbox -accepted hack/mutants.list ./pkg/controller/modelbox/status
//
// All changes are compiled into one test program for each package of tests. An environment variable selects the change that is active, so
// that a change costs the time of the tests that reach it, and no build. It fails if there are changes that no test notices and that the
// file of accepted changes does not list. The sources stay as they are: "go build" gets the changed files by its flag -overlay.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
)

func main() {
	tests := flag.String("tests", "", "the packages of the tests, separated by commas. Defaults to the packages themselves")
	files := flag.String("files", "", "the names of the files to change, separated by commas. Defaults to all")
	accepted := flag.String("accepted", "", "a file with the changes that no test has to notice, and why")
	workers := flag.Int("workers", 2, "how many changes are tried at the same time")
	short := flag.Bool("short", true, "whether to leave out the tests that take long")
	flag.Parse()
	testPackages := flag.Args()
	if *tests != "" {
		testPackages = strings.Split(*tests, ",")
	}
	if err := run(flag.Args(), testPackages, strings.FieldsFunc(*files, func(r rune) bool { return r == ',' }), *accepted, *workers, *short); err != nil {
		fmt.Fprintln(os.Stderr, "ERROR:", err)
		os.Exit(1)
	}
}

func run(packages, testPackages, files []string, acceptedFile string, workers int, short bool) error {
	accepted, err := readAccepted(acceptedFile)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	overlay, mutants, err := instrument(packages, files, dir)
	if err != nil {
		return err
	}
	var suite []*testCase
	for i, testPackage := range testPackages {
		cases, err := buildTests(testPackage, overlay, fmt.Sprintf("%s/%d.test", dir, i), short)
		if err != nil {
			return err
		}
		suite = append(suite, cases...)
	}
	if err := trace(suite, dir, workers); err != nil {
		return err
	}
	try(mutants, suite, workers)
	return report(mutants, accepted)
}
