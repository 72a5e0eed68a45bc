// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"os"
	"testing"
)

// Setting returns what the variable of the environment says, the usual where it says nothing. What cannot be parsed
// fails the test.
func Setting[T any](t *testing.T, variable string, usual T, parse func(string) (T, error)) T {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return usual
	}
	value, err := parse(text)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return value
}
