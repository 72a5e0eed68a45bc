// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	code = `package limit

// Limit returns a number that is at most most, and 0 for a negative one.
func Limit(number, most int, isStrict bool) int {
	result := number
	if number > most && isStrict {
		result = most
	}
	if number < 0 {
		return 0
	}
	return result
}

func IsEven(number int) bool { return number%2 == 0 }
`
	weakTest = `package limit

import "testing"

func TestLimit(t *testing.T) {
	if Limit(1, 2, true) != 1 || Limit(3, 2, true) != 2 || Limit(3, 2, false) != 3 || Limit(1, 2, false) != 1 || Limit(-1, 2, true) != 0 {
		t.Error("the limit is wrong")
	}
}
`
)

func TestMutants(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"go.mod": "module limit\n\ngo 1.26\n", "limit.go": code, "limit_test.go": weakTest} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	overlay, mutants, err := instrument([]string{"."}, nil, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	suite, err := buildTests(".", overlay, filepath.Join(t.TempDir(), "limit.test"), true)
	if err != nil {
		t.Fatal(err)
	}
	if err := trace(suite, t.TempDir(), 1); err != nil {
		t.Fatal(err)
	}
	try(mutants, suite, 1)
	var got []string
	for _, m := range mutants {
		got = append(got, fmt.Sprintf("%s: %s", m.outcome, m.key()))
	}
	slices.Sort(got)
	want := []string{
		"killed: limit.go: left out: result = most",
		"killed: limit.go: opposite: isStrict",
		"killed: limit.go: opposite: number < 0",
		"killed: limit.go: opposite: number > most",
		"killed: limit.go: or: number > most && isStrict",
		"survived: limit.go: boundary: number < 0",
		"survived: limit.go: boundary: number > most",
		"unreached: limit.go: opposite: number%2 == 0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}

	accepted := map[string]bool{"limit.go: boundary: number < 0": true, "limit.go: boundary: number > most": true}
	if err := report(mutants, accepted); err == nil {
		t.Error("a mutant that no test reaches is accepted")
	}
	accepted["limit.go: opposite: number%2 == 0"] = true
	if err := report(mutants, accepted); err != nil {
		t.Errorf("all mutants are accepted: %v", err)
	}
	accepted["limit.go: left out: result = most"] = true
	if err := report(mutants, accepted); err == nil {
		t.Error("a mutant that a test notices is accepted")
	}
}
