// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestSpecChanges(t *testing.T) {
	t.Parallel()
	envs := func(pairs ...string) *modelv1.ModelBoxSpec {
		spec := &modelv1.ModelBoxSpec{}
		for i := 0; i < len(pairs); i += 2 {
			spec.Envs = append(spec.Envs, corev1.EnvVar{Name: pairs[i], Value: pairs[i+1]})
		}
		return spec
	}
	binaryFile := func(content byte) *modelv1.ModelBoxSpec {
		return &modelv1.ModelBoxSpec{Configs: []modelv1.ModelBoxConfig{{Name: "web", BinaryData: map[string][]byte{"logo": {content}}}}}
	}
	annotated := func(value string) *modelv1.ModelBoxSpec {
		return &modelv1.ModelBoxSpec{PodTemplate: &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{modelv1.RestartedAtAnnotation: value}}}}
	}
	for _, row := range []struct {
		name          string
		before, after *modelv1.ModelBoxSpec
		want          []string
	}{
		{"nothing", envs("A", "1"), envs("A", "1"), nil},
		{"the number of pods, and a pause", &modelv1.ModelBoxSpec{Replicas: ptr.To[int32](1)}, &modelv1.ModelBoxSpec{Replicas: ptr.To[int32](2), Paused: true}, nil},
		{"a value", &modelv1.ModelBoxSpec{Image: "nginx:1"}, &modelv1.ModelBoxSpec{Image: "nginx:2"}, []string{`spec.image: "nginx:1" -> "nginx:2"`}},
		{"a field that comes, and one that goes", &modelv1.ModelBoxSpec{ServiceAccountName: "web"}, &modelv1.ModelBoxSpec{MinReadySeconds: ptr.To[int32](3)},
			[]string{`spec.minReadySeconds:  -> 3`, `spec.serviceAccountName: "web" -> `}},
		{"items with names", envs("A", "1", "B", "1"), envs("C", "1", "A", "2"),
			[]string{`spec.envs[A].value: "1" -> "2"`, `spec.envs[B]: {"name":"B","value":"1"} -> `, `spec.envs[C]:  -> {"name":"C","value":"1"}`}},
		{"the order of items", envs("A", "1", "B", "1"), envs("B", "1", "A", "1"),
			[]string{`spec.envs: [{"name":"A","value":"1"},{"name":"B","value":"1"}] -> [{"name":"B","value":"1"},{"name":"A","value":"1"}]`}},
		{"items without names", &modelv1.ModelBoxSpec{Args: []string{"a", "b"}}, &modelv1.ModelBoxSpec{Args: []string{"a", "c"}}, []string{`spec.args[1]: "b" -> "c"`}},
		{"more items", &modelv1.ModelBoxSpec{Args: []string{"a"}}, &modelv1.ModelBoxSpec{Args: []string{"a", "c"}}, []string{`spec.args: ["a"] -> ["a","c"]`}},
		{"a key with dots", annotated("a"), annotated("b"), []string{`spec.podTemplate.metadata.annotations[kubectl.kubernetes.io/restartedAt]: "a" -> "b"`}},
		{"a binary file", binaryFile(1), binaryFile(2), []string{`spec.configs[web].binaryData.logo: "AQ==" -> "Ag=="`}},
		{"a long value", &modelv1.ModelBoxSpec{}, &modelv1.ModelBoxSpec{Image: strings.Repeat("é", 1000)}, []string{`spec.image: "" -> "` + strings.Repeat("é", 127) + `…`}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			changes, err := SpecChanges(row.before, row.after)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, change := range changes {
				got = append(got, change.Path+": "+change.Before+" -> "+change.After)
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestVeryManySpecChangesAreToldTogether(t *testing.T) {
	t.Parallel()
	var before, after modelv1.ModelBoxSpec
	for i := range maxChanges + 1 {
		name := fmt.Sprint("E", i)
		before.Envs = append(before.Envs, corev1.EnvVar{Name: name, Value: "1"})
		after.Envs = append(after.Envs, corev1.EnvVar{Name: name, Value: "2"})
	}
	changes, err := SpecChanges(&before, &after)
	if err != nil {
		t.Fatal(err)
	}
	if len(changes) != 1 || changes[0].Path != "spec.envs" || !strings.HasPrefix(changes[0].After, `[{"name":"E0","value":"2"},`) {
		t.Errorf("got %v", changes)
	}
	after.Envs = after.Envs[:maxChanges-1]
	if changes, err := SpecChanges(&modelv1.ModelBoxSpec{Envs: before.Envs[:maxChanges-1]}, &after); err != nil || len(changes) != maxChanges-1 {
		t.Errorf("%d changes, %v", len(changes), err)
	}
}
