// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Command prose checks the wording of text against a list of words.
//
//	prose WORDS COUNTS
//
// reads the names of Go files and of Markdown from the standard input, one a line. It reports each unwanted word of them, with its line
// and with the words to write instead. Code in Markdown is not checked. A page, or a directory of Go files, may have as many words as COUNTS allows, which is none by default.
//
//	prose -update WORDS COUNTS
//
// lowers COUNTS to the words that the files have. It never raises a count.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

func main() {
	update := flag.Bool("update", false, "lower the counts to the words that the files have")
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "usage: prose [-update] WORDS COUNTS <FILES")
		os.Exit(2)
	}
	clean, err := run(os.Stdin, os.Stdout, flag.Arg(0), flag.Arg(1), *update)
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(2)
	}
	if !clean {
		os.Exit(1)
	}
}

// run returns whether the files have no more unwanted words than the counts allow.
func run(files io.Reader, out io.Writer, wordsFile, countsFile string, update bool) (bool, error) {
	words, err := readWords(wordsFile)
	if err != nil {
		return false, err
	}
	allowed, err := readCounts(countsFile)
	if err != nil {
		return false, err
	}

	found := map[string][]finding{}
	names := bufio.NewScanner(files)
	for names.Scan() {
		file := names.Text()
		text, err := os.ReadFile(file)
		if err != nil {
			return false, err
		}
		place, findings := file, []finding(nil)
		if filepath.Ext(file) == ".go" {
			place = filepath.Dir(file)
			findings = find(file, string(text), words, true)
		} else {
			findings = find(file, withoutCode(string(text)), words, false)
		}
		found[place] = append(found[place], findings...)
	}
	if err := names.Err(); err != nil {
		return false, fmt.Errorf("reading the names of files: %w", err)
	}

	clean := true
	for _, place := range slices.Sorted(maps.Keys(found)) {
		if len(found[place]) <= allowed[place] {
			continue
		}
		clean = false
		for _, f := range found[place] {
			fmt.Fprintln(out, f)
		}
		if allowed[place] > 0 {
			fmt.Fprintf(out, "%s: has %d unwanted words, %s allows %d\n", place, len(found[place]), countsFile, allowed[place])
		}
	}
	if update {
		return clean, writeCounts(countsFile, lowered(allowed, found))
	}
	return clean, nil
}
