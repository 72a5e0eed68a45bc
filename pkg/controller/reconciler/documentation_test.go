// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler_test

import (
	"os"
	"strings"
	"testing"
)

func TestTheSampleInTheDocumentationIsTheExample(t *testing.T) {
	page, err := os.ReadFile("../../../docs/adding-a-kind.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, code, _ := strings.Cut(string(example), "\n)\n\n") // after the imports
	if !strings.Contains(string(page), "```go\n"+code+"```\n") {
		t.Error("docs/adding-a-kind.md does not have the code of example_test.go")
	}
}
