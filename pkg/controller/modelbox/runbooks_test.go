// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
)

// runbookEntry is a name that the runbook explains: a heading, or the first cell of a row.
var runbookEntry = regexp.MustCompile("(?m)^(?:#+ ([A-Za-z]+)|\\| ((?:`[A-Za-z]+`(?:, )?)+) \\|)")

// TestEveryConditionAndReasonHasARunbook reads the constants of the API, and the reasons that pods are known to fail for.
func TestEveryConditionAndReasonHasARunbook(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "operate", "conditions.md"))
	if err != nil {
		t.Fatal(err)
	}
	entries := sets.New[string]()
	for _, entry := range runbookEntry.FindAllStringSubmatch(string(text), -1) {
		entries.Insert(strings.Split(strings.ReplaceAll(entry[1]+entry[2], "`", ""), ", ")...)
	}
	wanted := apiConstants(t, "Condition", "Reason")
	if !wanted.HasAll("Stalled", "NotOwned", "InUse", "ComponentStalled") {
		t.Errorf("the constants of the API lack some: %v", sets.List(wanted))
	}
	if missing := wanted.Insert(status.FailureOrder...).Difference(entries); missing.Len() > 0 {
		t.Errorf("docs/operate/conditions.md says nothing about %v", sets.List(missing))
	}
}

// apiConstants returns the values of the API's constants whose names begin with one of the prefixes.
func apiConstants(t *testing.T, prefixes ...string) sets.Set[string] {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "apis", "model", "v1", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	values := sets.New[string]()
	for _, file := range files {
		source, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range source.Decls {
			constants, isGeneral := declaration.(*ast.GenDecl)
			if !isGeneral || constants.Tok != token.CONST {
				continue
			}
			for _, spec := range constants.Specs {
				constant := spec.(*ast.ValueSpec)
				for _, prefix := range prefixes {
					if !strings.HasPrefix(constant.Names[0].Name, prefix) || len(constant.Values) == 0 {
						continue
					}
					literal, isLiteral := constant.Values[0].(*ast.BasicLit)
					if !isLiteral {
						t.Fatalf("%s is no literal", constant.Names[0].Name)
					}
					value, err := strconv.Unquote(literal.Value)
					if err != nil {
						t.Fatal(err)
					}
					values.Insert(value)
				}
			}
		}
	}
	return values
}
