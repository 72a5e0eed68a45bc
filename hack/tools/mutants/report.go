// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// readAccepted returns the keys in the file of accepted mutants. Lines with "#" are comments.
func readAccepted(file string) (map[string]bool, error) {
	accepted := map[string]bool{}
	if file == "" {
		return accepted, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the accepted mutants: %w", err)
	}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			accepted[line] = true
		}
	}
	return accepted, nil
}

// report prints the mutants that no test notices, and the counts. It returns an error if there are mutants that are not accepted, or
// accepted ones that do not exist in the files that were changed.
func report(mutants []*mutant, accepted map[string]bool) error {
	counts, changed, used := map[outcome]int{}, map[string]bool{}, map[string]bool{}
	others, acceptedCount := 0, 0
	for _, m := range mutants {
		counts[m.outcome]++
		changed[m.position.Filename] = true
		if m.outcome == killed {
			continue
		}
		if accepted[m.key()] {
			used[m.key()] = true
			acceptedCount++
			continue
		}
		others++
		fmt.Printf("%s:%d:%d: %s: %s: %s\n", m.position.Filename, m.position.Line, m.position.Column, m.outcome, m.change, m.source)
	}
	fmt.Printf("%d mutants: %d killed, %d survived, %d unreached, %d of them accepted\n",
		len(mutants), counts[killed], counts[survived], counts[unreached], acceptedCount)
	var err error
	if others > 0 {
		err = errors.New("no test notices the mutants above")
	}
	for _, key := range slices.Sorted(maps.Keys(accepted)) {
		if file, _, _ := strings.Cut(key, ": "); changed[file] && !used[key] {
			err = errors.Join(err, fmt.Errorf("a test notices this mutant, or it does not exist: %s", key))
		}
	}
	return err
}
