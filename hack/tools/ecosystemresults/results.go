// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
)

// result is the result of a test without subtests. The name begins with the names of the tests that it is a subtest of.
type result struct {
	name []string
	// action is "pass", "fail" or "skip".
	action string
}

// readResults returns the results in a file with the events of "go test -json", in their order. Other lines are ignored.
func readResults(path string) ([]result, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var results []result
	hasSubtests := map[string]bool{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var event struct{ Action, Test string }
		if json.Unmarshal(lines.Bytes(), &event) != nil || event.Test == "" {
			continue
		}
		switch event.Action {
		case "pass", "fail", "skip":
			name := strings.Split(event.Test, "/")
			for i := 1; i < len(name); i++ {
				hasSubtests[strings.Join(name[:i], "/")] = true
			}
			results = append(results, result{name, event.Action})
		}
	}
	var leaves []result
	for _, r := range results {
		if !hasSubtests[strings.Join(r.name, "/")] || r.action == "fail" {
			leaves = append(leaves, r)
		}
	}
	return leaves, lines.Err()
}
