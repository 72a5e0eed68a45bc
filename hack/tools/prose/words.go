// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// word is an unwanted wording.
type word struct {
	expression *regexp.Regexp
	// instead names the words to write.
	instead string
	// everywhere is set if Go files are checked for it as well.
	everywhere bool
}

// readWords reads a list of words. A line has three columns, separated by tabs: "all" or "docs", a regular expression, and the words
// to write instead. A space in an expression matches a line break as well.
func readWords(file string) ([]word, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var words []word
	for number, line := range strings.Split(string(text), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		columns := strings.Split(line, "\t")
		if len(columns) != 3 || (columns[0] != "all" && columns[0] != "docs") {
			return nil, fmt.Errorf("%s:%d: must have three columns separated by tabs: all or docs, an expression, and the words to write instead", file, number+1)
		}
		expression, err := regexp.Compile(strings.ReplaceAll(columns[1], " ", `\s+`))
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, number+1, err)
		}
		words = append(words, word{expression, columns[2], columns[0] == "all"})
	}
	return words, nil
}

// finding is an unwanted word in a file.
type finding struct {
	file    string
	line    int
	found   string
	instead string
}

func (f finding) String() string {
	return fmt.Sprintf("%s:%d: %q: write %s", f.file, f.line, strings.Join(strings.Fields(f.found), " "), f.instead)
}

// find returns the unwanted words of a text, in the order of its lines.
func find(file, text string, words []word, isGo bool) []finding {
	var findings []finding
	for _, w := range words {
		if isGo && !w.everywhere {
			continue
		}
		for _, match := range w.expression.FindAllStringIndex(text, -1) {
			findings = append(findings, finding{
				file:    file,
				line:    strings.Count(text[:match[0]], "\n") + 1,
				found:   text[match[0]:match[1]],
				instead: w.instead,
			})
		}
	}
	slices.SortStableFunc(findings, func(a, b finding) int { return a.line - b.line })
	return findings
}

var (
	fence      = regexp.MustCompile("(?ms)^ *```.*?^ *```[^\n]*$")
	inlineCode = regexp.MustCompile("`[^`]+`")
	linkTarget = regexp.MustCompile(`\]\([^)]*\)`)
)

// withoutCode returns Markdown without its code and the targets of its links. The lines keep their numbers.
func withoutCode(markdown string) string {
	for _, code := range []*regexp.Regexp{fence, inlineCode, linkTarget} {
		markdown = code.ReplaceAllStringFunc(markdown, func(match string) string {
			return "_" + strings.Repeat("\n", strings.Count(match, "\n")) // not a backtick, which would begin another code
		})
	}
	return markdown
}
