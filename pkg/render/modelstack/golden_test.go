// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// The golden files pin what a stack becomes. After a wanted change:
//
//	go test ./pkg/render/modelstack -update
//
// A changed golden file of an unchanged stack is a breaking change: an upgrade to it writes every such box, and may roll
// its pods.
var update = flag.Bool("update", false, "rewrite the golden files")

const (
	inputSuffix  = ".stack.yaml"
	goldenSuffix = ".golden.yaml"
	sample       = "../../../artifacts/samples/dataservice.yaml"
)

// readStack returns the stack of a file, defaulted.
func readStack(t testing.TB, file string) *modelv1.ModelStack {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	data, _, _ = bytes.Cut(data, []byte("\n---\n"))
	stack := &modelv1.ModelStack{}
	if err := utilyaml.UnmarshalStrict(data, stack); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	modelv1.SetObjectDefaults_ModelStack(stack)
	return stack
}

// renderAll returns the children of all components as YAML documents.
func renderAll(t testing.TB, stack *modelv1.ModelStack) string {
	t.Helper()
	renderer := NewRenderer(stack)
	var documents []string
	for i := range stack.Spec.Components {
		children, err := renderer.Children(&stack.Spec.Components[i], false)
		if err != nil {
			t.Fatal(err)
		}
		for _, child := range children {
			document, err := yaml.Marshal(child.Object)
			if err != nil {
				t.Fatal(err)
			}
			documents = append(documents, string(document))
		}
	}
	return strings.Join(documents, "---\n")
}

func TestGolden(t *testing.T) {
	inputs, err := filepath.Glob("testdata/*" + inputSuffix)
	if err != nil || len(inputs) == 0 {
		t.Fatalf("got %d stacks in testdata, %v", len(inputs), err)
	}
	goldens := map[string]string{sample: "testdata/dataservice"}
	for _, input := range inputs {
		goldens[input] = strings.TrimSuffix(input, inputSuffix)
	}
	for input, name := range goldens {
		t.Run(filepath.Base(name), func(t *testing.T) {
			got := renderAll(t, readStack(t, input))
			if *update {
				if err := os.WriteFile(name+goldenSuffix, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(name + goldenSuffix)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("the render of %s changed (-golden +now):\n%s", input, diff)
			}
		})
	}
}
