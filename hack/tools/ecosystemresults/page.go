// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"text/template"
	"time"
)

var page = template.Must(template.New("page").Parse(`# Tests with other programs

` + "`make test-ecosystem`" + ` wrote this page on {{.Date}}. [ecosystem.md](ecosystem.md) and [tools.md](tools.md) describe how to use the
programs. Some tests only check files in ` + "`artifacts`" + `, for example all tests of k9s. ` + "`make k9s-session`" + ` runs k9s itself, and
` + "`make test-headlamp`" + ` tests the plugin for Headlamp.

| program | version | tests | passed | failed |
|---|---|---|---|---|
{{- range .Programs}}
| {{.Name}} | {{.Version}} | {{len .Rows}} | {{.Passed}} | {{.Failed}} |
{{- end}}
{{range .Programs}}
## {{.Name}}

| test | result |
|---|---|
{{- range .Rows}}
| {{.Test}} | {{.Result}} |
{{- end}}
{{end -}}
`))

type section struct {
	Name, Version  string
	Passed, Failed int
	Rows           []row
}

type row struct{ Test, Result string }

// writePage writes the results of each program. It returns an error if a program has no result.
func writePage(out io.Writer, programs []program, results []result, now time.Time) error {
	var sections []section
	for _, p := range programs {
		s := section{Name: p.name, Version: p.version}
		for _, r := range results {
			if !strings.HasPrefix(r.name[0], p.tests) {
				continue
			}
			s.Rows = append(s.Rows, row{describe(strings.TrimPrefix(r.name[0], p.tests), r.name[1:]), resultNames[r.action]})
			switch r.action {
			case "pass":
				s.Passed++
			case "fail":
				s.Failed++
			}
		}
		if len(s.Rows) == 0 {
			return fmt.Errorf("no test has a name that begins with %s", p.tests)
		}
		sections = append(sections, s)
	}
	return page.Execute(out, map[string]any{"Date": now.UTC().Format(time.DateOnly), "Programs": sections})
}

var resultNames = map[string]string{"pass": "passed", "fail": "failed", "skip": "skipped"}

// describe makes words of the names of a test and of its subtests: "StopsWaiting" becomes "stops waiting", and "a_box" becomes "a box".
func describe(test string, subtests []string) string {
	var parts []string
	if test != "" {
		parts = append(parts, words(test))
	}
	for _, subtest := range subtests {
		parts = append(parts, strings.ReplaceAll(subtest, "_", " "))
	}
	if len(parts) == 0 {
		return "all"
	}
	return strings.ReplaceAll(strings.Join(parts, ": "), "|", `\|`)
}

// words returns the words of a name in camel case.
func words(name string) string {
	return strings.ToLower(strings.Join(camelCase.FindAllString(name, -1), " "))
}

var camelCase = regexp.MustCompile(`[A-Z][^A-Z]*`)
