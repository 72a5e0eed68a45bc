// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// The library is the reference: what an overlay means must not change.
func TestMergeIsStrategicMerge(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	schema, err := strategicpatch.NewPatchMetaFromStruct(corev1.PodTemplateSpec{})
	if err != nil {
		t.Fatal(err)
	}
	templates := 1000
	if testing.Short() {
		templates = 100
	}
	for i := range templates {
		original, patch := randomTemplate(random), randomTemplate(random)
		original.Finalizers = nil
		want, err := strategicpatch.StrategicMergeMapPatchUsingLookupPatchMeta(jsonOf(t, original), jsonOf(t, patch), schema)
		if err != nil {
			t.Fatal(err)
		}
		got, err := merge(jsonOf(t, original), jsonOf(t, patch), schema)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]any(want), got); diff != "" {
			t.Fatalf("template %d: -want +got:\n%s", i, diff)
		}
	}
}

// BenchmarkMerge merges variables in the opposite order, which is the most that ordering has to do.
func BenchmarkMerge(b *testing.B) {
	for _, count := range []int{500, 1000, 2000, 4000} {
		box := &modelv1.ModelBox{Spec: modelv1.ModelBoxSpec{Name: "web"}}
		overlaid := make([]corev1.EnvVar, count)
		for i := range count {
			env := corev1.EnvVar{Name: fmt.Sprintf("NAME_%05d", i), Value: "value"}
			box.Spec.Envs = append(box.Spec.Envs, env)
			overlaid[count-1-i] = env
		}
		box.Spec.PodTemplate = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Env: overlaid}}}}
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			for b.Loop() {
				if _, err := PodTemplate(box); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestMergeOfAnElementWithoutItsKey(t *testing.T) {
	schema, err := strategicpatch.NewPatchMetaFromStruct(corev1.PodTemplateSpec{})
	if err != nil {
		t.Fatal(err)
	}
	original := map[string]any{"spec": map[string]any{"imagePullSecrets": []any{map[string]any{"name": "a"}}}}
	patch := map[string]any{"spec": map[string]any{"imagePullSecrets": []any{map[string]any{"name": "b"}, map[string]any{}}}}
	_, err = merge(original, patch, schema)
	if want := "spec: imagePullSecrets: [1]: must have name"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func jsonOf(t *testing.T, template *corev1.PodTemplateSpec) map[string]any {
	t.Helper()
	fields, err := render.SetFields(template)
	if err != nil {
		t.Fatal(err)
	}
	return fields
}

// randomTemplate has few names, so that two templates have many in common, and some twice.
func randomTemplate(random *rand.Rand) *corev1.PodTemplateSpec {
	name := func() string { return string(rune('a' + random.IntN(6))) }
	names := func() map[string]string {
		names := map[string]string{}
		for range random.IntN(4) {
			names[name()] = name()
		}
		return names
	}
	times := func(add func()) {
		for range random.IntN(6) {
			add()
		}
	}
	template := &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: names(), Annotations: names()}}
	times(func() { template.Finalizers = append(template.Finalizers, name()) })
	spec := &template.Spec
	spec.NodeSelector = names()
	times(func() { spec.Tolerations = append(spec.Tolerations, corev1.Toleration{Key: name()}) })
	times(func() {
		spec.ImagePullSecrets = append(spec.ImagePullSecrets, corev1.LocalObjectReference{Name: name()})
	})
	times(func() {
		spec.HostAliases = append(spec.HostAliases, corev1.HostAlias{IP: name(), Hostnames: []string{name()}})
	})
	times(func() {
		volume := corev1.Volume{Name: name()}
		switch random.IntN(3) {
		case 0:
			volume.ConfigMap = &corev1.ConfigMapVolumeSource{Items: []corev1.KeyToPath{{Key: name()}}}
		case 1:
			volume.EmptyDir = &corev1.EmptyDirVolumeSource{}
		}
		spec.Volumes = append(spec.Volumes, volume)
	})
	times(func() {
		container := corev1.Container{Name: name(), Image: name(), Args: []string{name()}}
		times(func() { container.Env = append(container.Env, corev1.EnvVar{Name: name(), Value: name()}) })
		times(func() {
			container.Ports = append(container.Ports, corev1.ContainerPort{ContainerPort: int32(random.IntN(5)), Name: name()})
		})
		times(func() {
			container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{MountPath: name(), Name: name()})
		})
		if random.IntN(2) == 0 {
			container.SecurityContext = &corev1.SecurityContext{Privileged: ptr.To(true), Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"A"}}}
		}
		spec.Containers = append(spec.Containers, container)
	})
	return template
}
