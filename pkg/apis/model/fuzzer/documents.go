// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package fuzzer

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/util/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// Documents returns the objects of a kind among the YAML documents of files, as decoded JSON. Each pattern must match a file.
func Documents(t testing.TB, kind string, patterns ...string) []any {
	t.Helper()
	var documents []any
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if len(files) == 0 {
			t.Fatalf("there is no %s", pattern)
		}
		for _, file := range files {
			documents = append(documents, readDocuments(t, kind, file)...)
		}
	}
	return documents
}

func readDocuments(t testing.TB, kind, file string) []any {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var documents []any
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for {
		data, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return documents
		}
		if err == nil {
			data, err = yaml.YAMLToJSON(data)
		}
		var document any
		if err == nil {
			err = json.Unmarshal(data, &document)
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if fields, ok := document.(map[string]any); ok && fields["kind"] == kind {
			documents = append(documents, document)
		}
	}
}
