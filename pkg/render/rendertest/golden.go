// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package rendertest compares renders in tests with golden files.
package rendertest

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// GoldenSuffix is the suffix of the names of golden files.
const GoldenSuffix = ".golden.yaml"

var update = flag.Bool("update", false, "rewrite the golden files")

// ExpectGolden fails the test if got, the render of the input, differs from the golden file. With the flag -update, it writes the
// file.
func ExpectGolden(t *testing.T, golden, input, got string) {
	t.Helper()
	if *update {
		if err := errors.Join(os.MkdirAll(filepath.Dir(golden), 0o755), os.WriteFile(golden, []byte(got), 0o644)); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("%s has no golden file: go test -update writes %s", input, golden)
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("the render of %s changed (-golden +now):\n%s", input, diff)
	}
}

// Documents returns the objects as YAML documents. It leaves out modelv1.RecordAnnotation, because its value is not readable.
func Documents(t testing.TB, objects ...*unstructured.Unstructured) string {
	t.Helper()
	documents := make([]string, 0, len(objects))
	for _, object := range objects {
		object = object.DeepCopy()
		unstructured.RemoveNestedField(object.Object, "metadata", "annotations", modelv1.RecordAnnotation)
		document, err := yaml.Marshal(object.Object)
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, string(document))
	}
	return strings.Join(documents, "---\n")
}
