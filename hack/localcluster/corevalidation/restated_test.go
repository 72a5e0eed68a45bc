// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package corevalidation

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// restated is the program that has the restated rules. It is one of its own, as it is linked with the product's version of
// k8s.io/api.
type restated struct {
	objects io.Writer
	answers *bufio.Reader
}

// buildRestated builds the program, and returns its path.
func buildRestated(t testing.TB) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "core-validation")
	build := exec.Command("go", "build", "-o", program, "./hack/core-validation")
	build.Dir = "../../.."
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build, err, output)
	}
	return program
}

// startRestated starts the program, and stops it when the test ends.
func startRestated(t testing.TB) *restated {
	t.Helper()
	command := exec.Command(buildRestated(t))
	command.Stderr = os.Stderr
	objects, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	answers, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		objects.Close()
		if err := command.Wait(); err != nil {
			t.Error(err)
		}
	})
	return &restated{objects, bufio.NewReader(answers)}
}

// validate returns what the restated rules refuse of an object.
func (r *restated) validate(object []byte) (refusals, error) {
	if _, err := r.objects.Write(append(object[:len(object):len(object)], '\n')); err != nil {
		return nil, err
	}
	answer, err := r.answers.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	var errs []struct{ Field, Message string }
	if err := json.Unmarshal(answer, &errs); err != nil {
		return nil, err
	}
	refused := refusals{}
	for _, err := range errs {
		refused[err.Field] = err.Message
	}
	return refused, nil
}
