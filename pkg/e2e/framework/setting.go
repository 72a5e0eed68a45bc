// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"os"
	"testing"
)

// Setting returns the value of an environment variable, or the default if it is unset. It fails the test if the value cannot be
// parsed.
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
