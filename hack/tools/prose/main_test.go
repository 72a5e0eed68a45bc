// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const words = "all\t(?i)\\bsomebody\\b\ta user\ndocs\t(?i)\\bthat of\\b\tthe noun again\n"

func TestRun(t *testing.T) {
	for _, row := range []struct {
		name   string
		file   string
		text   string
		counts string
		want   string
	}{
		{name: "plain words", file: "page.md", text: "A user reads it.\n"},
		{name: "a word in Markdown", file: "page.md", text: "# Page\n\nSomebody reads it.\n", want: `page.md:3: "Somebody": write a user`},
		{name: "words across a line break", file: "page.md", text: "The name is that\nof the box.\n", want: `page.md:1: "that of": write the noun again`},
		{name: "a word in code", file: "page.md", text: "Run `somebody`:\n\n```\nsomebody\n```\n"},
		{name: "a word after code", file: "page.md", text: "```\na\nb\n```\n\nsomebody\n", want: `page.md:6: "somebody": write a user`},
		{name: "a word between two blocks of code", file: "page.md", text: "```\na\n```\n\nsomebody\n\n```\nb\n```\n", want: `page.md:5: "somebody": write a user`},
		{name: "a word in the target of a link", file: "page.md", text: "[a user](#somebody)\n"},
		{
			name: "a word in Go", file: "a.go", text: "// somebody\n",
			want: `a.go:1: "somebody": write a user`,
		},
		{name: "a word in Go that is counted", file: "a.go", text: "// somebody\n", counts: "1 .\n"},
		{name: "a word in Markdown that is counted", file: "page.md", text: "somebody\n", counts: "1 page.md\n"},
		{
			name: "more words than are counted", file: "a.go", text: "// somebody\n// somebody\n", counts: "1 .\n",
			want: "a.go:1: \"somebody\": write a user\na.go:2: \"somebody\": write a user\n.: has 2 unwanted words, counts.txt allows 1",
		},
		{name: "a word of docs in Go", file: "a.go", text: "// that of\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			write(t, "words.txt", words)
			write(t, "counts.txt", row.counts)
			write(t, row.file, row.text)
			var out strings.Builder
			clean, err := run(strings.NewReader(row.file), &out, "words.txt", "counts.txt", false)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.want, strings.TrimSpace(out.String())); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if clean != (row.want == "") {
				t.Errorf("run returned %v", clean)
			}
		})
	}
}

func TestUpdateOnlyLowersCounts(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "words.txt", words)
	write(t, "counts.txt", "5 fewer\n1 more\n1 none\n")
	write(t, "fewer/a.go", "// somebody somebody\n")
	write(t, "more/a.go", "// somebody somebody\n")
	write(t, "none/a.go", "// a user\n")
	clean, err := run(strings.NewReader("fewer/a.go\nmore/a.go\nnone/a.go\n"), &strings.Builder{}, "words.txt", "counts.txt", true)
	if err != nil {
		t.Fatal(err)
	}
	if clean {
		t.Error("a directory has more words than its count, and run returned true")
	}
	got, err := os.ReadFile("counts.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(countsHeader+"2 fewer\n1 more\n", string(got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestReadWordsNamesTheLine(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, text := range []string{"# words\nsomebody\n", "# words\nall\t(\ta user\n", "# words\ngo\tsomebody\ta user\n"} {
		write(t, "words.txt", text)
		if _, err := readWords("words.txt"); err == nil || !strings.HasPrefix(err.Error(), "words.txt:2: ") {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
