// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// dirVariable names the directory of a running control plane, which the tests then use in place of their own.
const dirVariable = "MODELBOX_E2E_DIR"

// testsAtOnce is how many parallel tests run at a time: they wait for the cluster more than they compute.
const testsAtOnce = "8"

// plane is the control plane that all tests share.
var plane *controlPlane

func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		fmt.Println("-short: skipping the tests that need a control plane")
		os.Exit(0)
	}
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "FAIL:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	if !isGiven("test.parallel") {
		if err := flag.Set("test.parallel", testsAtOnce); err != nil {
			return 0, err
		}
	}
	if dir := os.Getenv(dirVariable); dir != "" {
		plane, err = connect(dir)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", dirVariable, err)
		}
		return m.Run(), nil
	}

	owned, err := startControlPlane()
	if err != nil {
		return 0, err
	}
	defer func() {
		if stopErr := owned.stop(); stopErr != nil && err == nil {
			err = stopErr
		}
		if code != 0 || err != nil {
			fmt.Println("logs are kept in", owned.logs())
			return
		}
		err = owned.remove()
	}()
	plane, err = connect(owned.dir)
	if err != nil {
		return 0, err
	}
	return m.Run(), nil
}

func isGiven(name string) bool {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	return given
}
