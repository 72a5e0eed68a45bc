// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Command testtimes reports the times of tests.
//
//	testtimes exec FILE PROGRAM [ARGUMENT...]
//
// runs a test program for "go test -exec", and appends its directory and its CPU seconds to FILE.
//
//	testtimes report DIR
//
// prints a table of the steps in DIR, the slowest packages and the slowest tests. For each STEP, DIR has STEP.json, the events
// of "go test -json"; STEP.cpu, the lines of "testtimes exec"; and STEP.total, the seconds that the step took, by the clock and
// of CPU.
package main

import (
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "testtimes:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	switch {
	case len(arguments) >= 3 && arguments[0] == "exec":
		return execute(arguments[1], arguments[2], arguments[3:])
	case len(arguments) == 2 && arguments[0] == "report":
		steps, err := readSteps(arguments[1])
		if err != nil {
			return err
		}
		return report(os.Stdout, steps)
	}
	return fmt.Errorf("want: exec FILE PROGRAM [ARGUMENT...], or: report DIR")
}
