// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/rendertest"
)

// The golden files pin what a box becomes, for every sample and for every box in testdata. After a wanted change:
//
//	go test ./pkg/render/modelbox -update
//
// A changed golden file of an unchanged box is a breaking change: an upgrade to it rolls the pods of everybody who
// has such a box. It needs a reason that is worth that, and a word in the release notes.
const (
	inputSuffix = ".box.yaml"
	samplesDir  = "../../../artifacts/samples"
)

// autoscaledInputs are rendered as autoscaled boxes are, with the number of pods that the autoscaler decided on.
var autoscaledInputs = map[string]int32{
	"testdata/autoscaled.box.yaml":             5,
	"testdata/autoscaled-to-one.box.yaml":      1,
	"testdata/statefulset-autoscaled.box.yaml": 5,
}

// goldenInputs returns the files of boxes, each under the path of its golden file.
func goldenInputs(t *testing.T) map[string]string {
	t.Helper()
	inputs := map[string]string{}
	for _, input := range glob(t, filepath.Join(samplesDir, "*.yaml")) {
		if !isOfBoxes(t, input) {
			continue
		}
		name := strings.TrimSuffix(filepath.Base(input), ".yaml")
		inputs[filepath.Join("testdata", "samples", name+rendertest.GoldenSuffix)] = input
	}
	if len(inputs) == 0 {
		t.Fatalf("no samples in %s", samplesDir)
	}
	for _, input := range glob(t, filepath.Join("testdata", "*"+inputSuffix)) {
		inputs[strings.TrimSuffix(input, inputSuffix)+rendertest.GoldenSuffix] = input
	}
	return inputs
}

// isOfBoxes returns whether the file is one of boxes, rather than of another kind.
func isOfBoxes(t *testing.T, file string) bool {
	t.Helper()
	var object metav1.TypeMeta
	if err := yaml.Unmarshal(readDocuments(t, file)[0], &object); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return object.Kind == "ModelBox"
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestGolden(t *testing.T) {
	for golden, input := range goldenInputs(t) {
		t.Run(strings.TrimSuffix(strings.TrimPrefix(golden, "testdata/"), rendertest.GoldenSuffix), func(t *testing.T) {
			scaling := ScaledByBox
			if replicas, ok := autoscaledInputs[input]; ok {
				scaling = ScaledByAutoscaler(replicas)
			}
			rendertest.ExpectGolden(t, golden, input, renderAll(t, scaling, readBoxes(t, input)))
		})
	}
}

func TestEveryGoldenFileHasItsBox(t *testing.T) {
	inputs := goldenInputs(t)
	for _, golden := range append(glob(t, "testdata/*"+rendertest.GoldenSuffix), glob(t, "testdata/samples/*"+rendertest.GoldenSuffix)...) {
		if inputs[golden] == "" {
			t.Errorf("%s belongs to no box: delete it", golden)
		}
	}
}

func TestEveryFieldHasAGoldenBox(t *testing.T) {
	isSet := map[string]bool{}
	for _, input := range goldenInputs(t) {
		for _, document := range readDocuments(t, input) {
			var box struct {
				Spec map[string]any `json:"spec"`
			}
			if err := yaml.Unmarshal(document, &box); err != nil {
				t.Fatalf("%s: %v", input, err)
			}
			for name := range box.Spec {
				isSet[name] = true
			}
		}
	}
	for field := range reflect.TypeFor[modelv1.ModelBoxSpec]().Fields() {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); !isSet[name] {
			t.Errorf("no box in testdata or in %s has spec.%s", samplesDir, name)
		}
	}
}

func TestAutoscalingHasAGoldenBox(t *testing.T) {
	for input := range autoscaledInputs {
		if goldenInputs(t)[strings.TrimSuffix(input, inputSuffix)+rendertest.GoldenSuffix] != input {
			t.Errorf("there is no %s", input)
		}
	}
}

// renderAll returns the children of the boxes as YAML documents.
func renderAll(t *testing.T, scaling Scaling, boxes []*modelv1.ModelBox) string {
	t.Helper()
	var all []*unstructured.Unstructured
	for _, box := range boxes {
		all = append(all, childrenScaledBy(t, scaling, box)...)
	}
	return rendertest.Documents(t, all...)
}
