// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Command host-fields prints since which version of Kubernetes there are the fields that its oldest supported version does
// not have, of the types that children of boxes consist of. It compares the modules of the types.
package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/childkinds"
)

// oldest is the first minor version of Kubernetes that is supported.
const oldest = 33

// module has the types.
const module = "k8s.io/api"

// packages returns the packages of the module with the types of children, as "apps/v1".
func packages() []string {
	var found []string
	for _, kind := range childkinds.All() {
		if name, isOfModule := strings.CutPrefix(kind.Type.PkgPath(), module+"/"); isOfModule {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "host-fields:", err)
		os.Exit(1)
	}
}

func run() error {
	newest, err := newestMinor()
	if err != nil {
		return err
	}
	since := map[string]int{}
	for minor := oldest; minor <= newest; minor++ {
		// Patch releases add no fields.
		fields, err := fieldsOf(fmt.Sprintf("v0.%d.0", minor))
		if err != nil {
			return err
		}
		for _, field := range fields {
			if _, isKnown := since[field]; !isKnown {
				since[field] = minor
			}
		}
	}
	for _, field := range slices.Sorted(maps.Keys(since)) {
		if since[field] > oldest {
			fmt.Printf("%s 1.%d\n", field, since[field])
		}
	}
	return nil
}

// newestMinor is the minor version of the module that the product is built with.
func newestMinor() (int, error) {
	output, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", module).Output()
	if err != nil {
		return 0, fmt.Errorf("asking for the version of %s: %w", module, err)
	}
	_, rest, _ := strings.Cut(string(output), ".")
	minor, _, _ := strings.Cut(rest, ".")
	return strconv.Atoi(minor)
}

// fieldsOf returns the fields of all types of a version of the module, as "core/v1.Container.image".
func fieldsOf(version string) ([]string, error) {
	download := exec.Command("go", "mod", "download", "-json", module+"@"+version)
	download.Stderr = os.Stderr
	output, err := download.Output()
	if err != nil {
		return nil, fmt.Errorf("downloading %s@%s: %w", module, version, err)
	}
	var downloaded struct{ Dir string }
	if err := json.Unmarshal(output, &downloaded); err != nil {
		return nil, fmt.Errorf("reading what was downloaded: %w", err)
	}
	var fields []string
	for _, name := range packages() {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(downloaded.Dir, name, "types.go"), nil, 0)
		if err != nil {
			return nil, fmt.Errorf("parsing the types: %w", err)
		}
		for _, object := range file.Decls {
			fields = append(fields, fieldsIn(name, object)...)
		}
	}
	return fields, nil
}

// fieldsIn returns the fields of the structs that are declared there.
func fieldsIn(name string, declaration ast.Decl) []string {
	general, ok := declaration.(*ast.GenDecl)
	if !ok || general.Tok != token.TYPE {
		return nil
	}
	var fields []string
	for _, spec := range general.Specs {
		declared := spec.(*ast.TypeSpec)
		structure, ok := declared.Type.(*ast.StructType)
		if !ok {
			continue
		}
		for _, field := range structure.Fields.List {
			if field.Tag == nil {
				continue
			}
			tag, _ := strconv.Unquote(field.Tag.Value)
			if key, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ","); key != "" && key != "-" {
				fields = append(fields, fmt.Sprintf("%s.%s.%s", name, declared.Name.Name, key))
			}
		}
	}
	return fields
}
