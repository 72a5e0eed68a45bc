// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/rendertest"
)

// The golden files pin what a stack becomes. After a wanted change:
//
//	go test ./pkg/render/modelstack -update
//
// A changed golden file of an unchanged stack is a breaking change: an upgrade to it writes every such box, and may roll
// its pods.
const (
	inputSuffix = ".stack.yaml"
	sample      = "../../../artifacts/samples/dataservice.yaml"
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
	var all []*unstructured.Unstructured
	for i := range stack.Spec.Components {
		children, err := renderer.Children(&stack.Spec.Components[i], false)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, children...)
	}
	return rendertest.Documents(t, all...)
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
			rendertest.ExpectGolden(t, name+rendertest.GoldenSuffix, input, renderAll(t, readStack(t, input)))
		})
	}
}

// A reader who applies one sample after the other has no Service that is in the way of another.
func TestSamplesFitIntoOneNamespace(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(filepath.Dir(sample), "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	takenBy := map[string]string{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, document := range bytes.Split(data, []byte("\n---\n")) {
			object := &unstructured.Unstructured{}
			if err := utilyaml.Unmarshal(document, &object.Object); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			names := []string{object.GetName()}
			switch object.GetKind() {
			case "ModelBox", "Service":
			case "ModelStack":
				stack := readStack(t, file)
				names = nil
				for i := range stack.Spec.Components {
					component := &stack.Spec.Components[i]
					names = append(names, cmp.Or(component.BoxName, stack.Name+"-"+component.Name))
				}
			default:
				continue
			}
			for _, name := range names {
				if other, isTaken := takenBy[name]; isTaken {
					t.Errorf("%s and %s both have a Service %s", other, file, name)
				}
				takenBy[name] = file
			}
		}
	}
	if len(takenBy) == 0 {
		t.Error("there are no samples")
	}
}
