// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"
)

// dirVariable is the environment variable with the directory of a running control plane for the tests to use.
const dirVariable = "MODELBOX_E2E_DIR"

// temporaryVariable is the environment variable that is "true" if that control plane is stopped after the tests.
const temporaryVariable = "MODELBOX_E2E_TEMPORARY"

// testsAtOnce is the number of tests that run in parallel. They mostly wait for the cluster.
const testsAtOnce = "8"

var shared *ControlPlane

// SharedControlPlane is the control plane of all tests that do not start a separate one. It is nil in a package that uses
// MainWithoutControlPlane if MODELBOX_E2E_DIR names none.
func SharedControlPlane() *ControlPlane { return shared }

// Main is the TestMain of every package of end-to-end tests. It runs the tests against the control plane that MODELBOX_E2E_DIR
// names, or starts one for the package and stops it afterwards. From a control plane that it has not started, it deletes the
// objects of the manifests after the tests. It does not return.
func Main(m *testing.M, leftovers ...string) {
	exit(func() (int, error) {
		if os.Getenv(dirVariable) == "" {
			return runInNewControlPlane(m)
		}
		return runInGivenControlPlane(m, leftovers)
	})
}

// MainWithoutControlPlane is like Main, for a package whose tests start their control planes: it starts none.
func MainWithoutControlPlane(m *testing.M) {
	exit(func() (int, error) {
		if os.Getenv(dirVariable) == "" {
			return m.Run(), nil
		}
		return runInGivenControlPlane(m, nil)
	})
}

// exit runs the tests, and exits with their exit code.
func exit(run func() (code int, err error)) {
	flag.Parse()
	if testing.Short() {
		fmt.Println("-short: skipping the tests that need a control plane")
		os.Exit(0)
	}
	code, err := 0, setParallelism()
	if err == nil {
		code, err = run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "FAIL:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// setParallelism sets the number of tests that run in parallel, unless a flag has set it.
func setParallelism() error {
	if isGiven("test.parallel") {
		return nil
	}
	return flag.Set("test.parallel", testsAtOnce)
}

// delete deletes the objects of these manifests if they exist.
func (p *ControlPlane) delete(manifests []string) error {
	for _, manifest := range manifests {
		if run := RunKubectl(p.KubectlCommand(context.Background(), "delete", "--ignore-not-found", "--filename="+manifest), ""); run.Err != nil {
			return fmt.Errorf("deleting %s: %w: %s", manifest, run.Err, run.Stderr)
		}
	}
	return nil
}

func runInGivenControlPlane(m *testing.M, leftovers []string) (code int, err error) {
	if shared, err = Connect(os.Getenv(dirVariable)); err != nil {
		return 0, fmt.Errorf("%s: %w", dirVariable, err)
	}
	shared.isTemporary = os.Getenv(temporaryVariable) == "true"
	return m.Run(), shared.delete(leftovers)
}

func runInNewControlPlane(m *testing.M) (code int, err error) {
	cluster, err := StartLocalCluster()
	if err != nil {
		return 0, err
	}
	defer func() {
		if stopErr := cluster.Stop(); stopErr != nil && err == nil {
			err = stopErr
		}
		if code != 0 || err != nil {
			fmt.Println("logs are kept in", cluster.Logs())
			return
		}
		err = cluster.Remove()
	}()
	if shared, err = Connect(cluster.Dir); err != nil {
		return 0, err
	}
	shared.isTemporary = true
	return m.Run(), nil
}

func isGiven(name string) bool {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	return given
}
