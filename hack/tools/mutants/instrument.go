// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// switches is the source of the functions that the changed packages call.
const switches = `package %s

import (
	"os"
	"strconv"
	"sync"
)

var (
	mutantOn, _ = strconv.Atoi(os.Getenv("MUTANT"))
	mutantTrace = os.Getenv("MUTANT_TRACE")
	mutantsSeen sync.Map
)

func mutantActive(id int) bool {
	if mutantTrace != "" {
		if _, isSeen := mutantsSeen.LoadOrStore(id, true); !isSeen {
			if f, err := os.OpenFile(mutantTrace, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err == nil {
				_, _ = f.WriteString(strconv.Itoa(id) + "\n")
				_ = f.Close()
			}
		}
	}
	return id == mutantOn
}

func mutantAnd(id int, x bool, y func() bool) bool {
	if mutantActive(id) {
		return x || y()
	}
	return x && y()
}

func mutantOr(id int, x bool, y func() bool) bool {
	if mutantActive(id) {
		return x && y()
	}
	return x || y()
}

var _, _, _ = mutantActive, mutantAnd, mutantOr
`

// instrument writes changed sources of the packages, which have all mutants, into dir. It returns the overlay of "go build" with them. It
// changes only the files with the names, or all files if there are no names.
func instrument(patterns, files []string, dir string) (overlay string, mutants []*mutant, err error) {
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.LoadSyntax,
		Env:  append(os.Environ(), "CGO_ENABLED=0"),
	}, patterns...)
	if err != nil {
		return "", nil, fmt.Errorf("loading the packages: %w", err)
	}
	root, err := os.Getwd()
	if err != nil {
		return "", nil, err
	}
	replace := map[string]string{}
	for _, pkg := range loaded {
		if len(pkg.Errors) > 0 {
			return "", nil, fmt.Errorf("loading %s: %w", pkg.PkgPath, pkg.Errors[0])
		}
		for i, file := range pkg.Syntax {
			name := pkg.CompiledGoFiles[i]
			if ast.IsGenerated(file) || len(files) > 0 && !slices.Contains(files, filepath.Base(name)) {
				continue
			}
			source, err := os.ReadFile(name)
			if err != nil {
				return "", nil, err
			}
			relative, err := filepath.Rel(root, name)
			if err != nil {
				return "", nil, err
			}
			in := &instrumentation{pkg: pkg, name: relative, source: source, next: len(mutants) + 1}
			in.visitFile(file)
			mutants = append(mutants, in.mutants...)
			changed := fmt.Sprintf("%s/%d.go", dir, len(replace))
			if err := os.WriteFile(changed, in.changed(), 0o600); err != nil {
				return "", nil, err
			}
			replace[name] = changed
		}
		added := fmt.Sprintf("%s/%d.go", dir, len(replace))
		if err := os.WriteFile(added, fmt.Appendf(nil, switches, pkg.Name), 0o600); err != nil {
			return "", nil, err
		}
		replace[filepath.Join(filepath.Dir(pkg.CompiledGoFiles[0]), "mutants_active.go")] = added
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", nil, err
	}
	overlay = filepath.Join(dir, "overlay.json")
	return overlay, mutants, os.WriteFile(overlay, data, 0o600)
}

// edit is text that replaces a part of a file, which may be empty.
type edit struct {
	offset, length int
	text           string
	// closes says that the text ends an expression that begins before the offset.
	closes bool
}

// rank orders edits by their offsets. At the same offset, what ends an expression comes first.
func (e edit) rank() int {
	if e.closes {
		return 2 * e.offset
	}
	return 2*e.offset + 1
}

// instrumentation collects the mutants of a file.
type instrumentation struct {
	pkg     *packages.Package
	name    string
	source  []byte
	next    int
	mutants []*mutant
	edits   []edit
}

func (in *instrumentation) offset(pos token.Pos) int { return in.pkg.Fset.Position(pos).Offset }

func (in *instrumentation) text(node ast.Node) string {
	return string(in.source[in.offset(node.Pos()):in.offset(node.End())])
}

// add adds a mutant of the node, and returns its number.
func (in *instrumentation) add(node ast.Node, change string) int {
	position := in.pkg.Fset.Position(node.Pos())
	position.Filename = in.name
	in.mutants = append(in.mutants, &mutant{id: in.next, position: position, source: strings.Join(strings.Fields(in.text(node)), " "), change: change})
	in.next++
	return in.next - 1
}

// wrap puts text around a node.
func (in *instrumentation) wrap(node ast.Node, before, after string, visitInside func()) {
	in.edits = append(in.edits, edit{offset: in.offset(node.Pos()), text: before})
	visitInside()
	in.edits = append(in.edits, edit{offset: in.offset(node.End()), text: after, closes: true})
}

// changed returns the source with the edits. At the same place, an inner expression ends before an outer one, which begins first: the
// edits have that order.
func (in *instrumentation) changed() []byte {
	slices.SortStableFunc(in.edits, func(a, b edit) int {
		return cmp.Compare(a.rank(), b.rank())
	})
	var changed []byte
	at := 0
	for _, edit := range in.edits {
		changed = append(changed, in.source[at:edit.offset]...)
		changed = append(changed, edit.text...)
		at = edit.offset + edit.length
	}
	return append(changed, in.source[at:]...)
}

// isBool returns whether the type of an expression is bool, and no other type that is made of it.
func (in *instrumentation) isBool(expr ast.Expr) bool {
	typ := in.pkg.TypesInfo.Types[expr]
	return typ.IsValue() && types.Identical(types.Default(typ.Type), types.Typ[types.Bool])
}
