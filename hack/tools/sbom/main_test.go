// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdxlib"
)

// The test describes its own program, which was built from modules like any other.
func TestDocumentHasTheModulesOfTheProgram(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var documents []string
	for _, name := range []string{"first.json", "second.json"} {
		output := filepath.Join(t.TempDir(), name)
		if err := run([]string{"-version=v1.2.3", "-created=1700000000", "-output=" + output, program}); err != nil {
			t.Fatal(err)
		}
		document, err := os.ReadFile(output)
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, string(document))
	}
	if diff := cmp.Diff(documents[0], documents[1]); diff != "" {
		t.Errorf("the same program has two documents, -first +second:\n%s", diff)
	}

	document, err := json.Read(strings.NewReader(documents[0]))
	if err != nil {
		t.Fatal(err)
	}
	if err := spdxlib.ValidateDocument(document); err != nil {
		t.Errorf("the document is not valid: %v", err)
	}
	packages := map[string]string{}
	for _, described := range document.Packages {
		packages[described.PackageName] = described.PackageVersion
		isProgram := described.PackageSPDXIdentifier == "Program"
		if hasURL := len(described.PackageExternalReferences) == 1; hasURL == isProgram {
			t.Errorf("%s has %d package URLs", described.PackageName, len(described.PackageExternalReferences))
		}
		if hasChecksum := len(described.PackageChecksums) == 1; hasChecksum != isProgram {
			t.Errorf("%s has %d checksums", described.PackageName, len(described.PackageChecksums))
		}
	}
	if got := packages[filepath.Base(program)]; got != "v1.2.3" {
		t.Errorf("the program has version %q, want v1.2.3", got)
	}
	for _, module := range []string{"stdlib", "github.com/spdx/tools-golang"} {
		if packages[module] == "" {
			t.Errorf("the document has not module %s but %q", module, packages)
		}
	}
	if got, want := document.CreationInfo.Created, "2023-11-14T22:13:20Z"; got != want {
		t.Errorf("created at %s, want %s", got, want)
	}
}

func TestWhatCannotBeDescribed(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("no program"), 0o644); err != nil {
		t.Fatal(err)
	}
	good := []string{"-version=v1", "-output=" + filepath.Join(t.TempDir(), "out"), text}
	for want, args := range map[string][]string{
		"-version is required":                           good[1:],
		"-output is required":                            {good[0], text},
		"expected one program, got 0":                    good[:2],
		"reading what " + text + " was built from":       good,
		"flag provided but not defined: -no-such-option": slices.Concat([]string{"-no-such-option"}, good),
	} {
		t.Run(want, func(t *testing.T) {
			if err := run(args); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}
