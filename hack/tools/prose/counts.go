// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

const countsHeader = `# The unwanted words of hack/prose/words.txt that a page, or the Go files of a directory, may still have. A count may only shrink:
# "hack/verify-prose.sh -update" lowers it.
`

// readCounts reads the number of words that a page or a directory may have, one a line.
func readCounts(file string) (map[string]int, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	counts := map[string]int{}
	for number, line := range strings.Split(string(text), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var count int
		var place string
		if _, err := fmt.Sscanf(line, "%d %s", &count, &place); err != nil {
			return nil, fmt.Errorf("%s:%d: must be a number, and a page or a directory", file, number+1)
		}
		counts[place] = count
	}
	return counts, nil
}

// lowered returns the counts, each at most the number of words that was found. There is none for a place without a word.
func lowered(counts map[string]int, found map[string][]finding) map[string]int {
	lower := map[string]int{}
	for place, count := range counts {
		if now := min(count, len(found[place])); now > 0 {
			lower[place] = now
		}
	}
	return lower
}

func writeCounts(file string, counts map[string]int) error {
	var text strings.Builder
	text.WriteString(countsHeader)
	for _, place := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(&text, "%d %s\n", counts[place], place)
	}
	return os.WriteFile(file, []byte(text.String()), 0o644)
}
