// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// The golden files pin what a box becomes, for every sample and for every box in testdata. After a wanted change:
//
//	go test ./pkg/render -update
//
// A changed golden file of an unchanged box is a breaking change: an upgrade to it rolls the pods of everybody who
// has such a box. It needs a reason that is worth that, and a word in the release notes.
var update = flag.Bool("update", false, "rewrite the golden files")

const (
	inputSuffix  = ".box.yaml"
	goldenSuffix = ".golden.yaml"
	samplesDir   = "../../../artifacts/samples"
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
		inputs[filepath.Join("testdata", "samples", name+goldenSuffix)] = input
	}
	if len(inputs) == 0 {
		t.Fatalf("no samples in %s", samplesDir)
	}
	for _, input := range glob(t, filepath.Join("testdata", "*"+inputSuffix)) {
		inputs[strings.TrimSuffix(input, inputSuffix)+goldenSuffix] = input
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
		t.Run(strings.TrimSuffix(strings.TrimPrefix(golden, "testdata/"), goldenSuffix), func(t *testing.T) {
			scaling := ScaledByBox
			if replicas, ok := autoscaledInputs[input]; ok {
				scaling = ScaledByAutoscaler(replicas)
			}
			got := renderAll(t, scaling, readBoxes(t, input))
			if *update {
				write(t, golden, got)
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatalf("%v\n%s has no golden file: go test ./pkg/render -update writes it", err, input)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("the render of %s changed, which rolls everybody's pods (-golden +now):\n%s", input, diff)
			}
		})
	}
}

func TestEveryGoldenFileHasItsBox(t *testing.T) {
	inputs := goldenInputs(t)
	for _, golden := range append(glob(t, "testdata/*"+goldenSuffix), glob(t, "testdata/samples/*"+goldenSuffix)...) {
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
		if goldenInputs(t)[strings.TrimSuffix(input, inputSuffix)+goldenSuffix] != input {
			t.Errorf("there is no %s", input)
		}
	}
}

// renderAll returns the children of the boxes as YAML documents, without the record, which is the box itself in a form
// that nobody can read.
func renderAll(t *testing.T, scaling Scaling, boxes []*modelv1.ModelBox) string {
	t.Helper()
	var documents []string
	for _, box := range boxes {
		for _, child := range childrenScaledBy(t, scaling, box) {
			unstructured.RemoveNestedField(child.Object, "metadata", "annotations", modelv1.RecordAnnotation)
			document, err := yaml.Marshal(child.Object)
			if err != nil {
				t.Fatal(err)
			}
			documents = append(documents, string(document))
		}
	}
	return strings.Join(documents, "---\n")
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
