// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package fields_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
)

// maxCost is how much more memory a comparison may cost than one that finds an image in objects of the same size.
const maxCost = 8

// TestCompareHasABoundedCost compares Deployments with others that a user has made expensive to compare, with the longest lists
// that a box has.
func TestCompareHasABoundedCost(t *testing.T) {
	const variables, mounts = 1000, 250
	box := fixture.WebBox(t, func(box *modelv1.ModelBox) {
		for i := range variables {
			box.Spec.Envs = append(box.Spec.Envs, corev1.EnvVar{Name: fmt.Sprintf("NAME_%d", i), Value: "value"})
		}
		for i := range mounts {
			name := fmt.Sprintf("data-%d", i)
			box.Spec.Volumes = append(box.Spec.Volumes, corev1.Volume{Name: name})
			box.Spec.VolumeMounts = append(box.Spec.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: "/" + name})
		}
	})
	ordinary := costOfComparison(t, box, func(spec *corev1.PodSpec) { spec.Containers[0].Image = "nginx:2" })
	for _, row := range []struct {
		name   string
		change func(*corev1.PodSpec)
	}{
		{"in another order", func(spec *corev1.PodSpec) {
			slices.Reverse(spec.Containers[0].Env)
			slices.Reverse(spec.Containers[0].VolumeMounts)
			slices.Reverse(spec.Volumes)
		}},
		{"under other names", func(spec *corev1.PodSpec) {
			for i := range spec.Containers[0].Env {
				spec.Containers[0].Env[i].Name += "_X"
			}
			for i := range spec.Containers[0].VolumeMounts {
				spec.Containers[0].VolumeMounts[i].MountPath += "x"
			}
			for i := range spec.Volumes {
				spec.Volumes[i].Name += "x"
			}
		}},
		{"of the same name", func(spec *corev1.PodSpec) {
			for i := range spec.Containers[0].Env {
				spec.Containers[0].Env[i].Name = "NAME_0"
			}
		}},
		{"beside as many others", func(spec *corev1.PodSpec) {
			for i := range variables {
				spec.Containers[0].Env = append(spec.Containers[0].Env, corev1.EnvVar{Name: fmt.Sprintf("OTHER_%d", i), Value: "value"})
			}
			spec.Containers[0].Env = spec.Containers[0].Env[500:]
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if cost := costOfComparison(t, box, row.change); cost > maxCost*ordinary {
				t.Errorf("it costs %d bytes, one that finds an image %d", cost, ordinary)
			}
		})
	}
}

// costOfComparison returns the bytes that are allocated to compare the render of a box with a changed live Deployment.
func costOfComparison(t *testing.T, box *modelv1.ModelBox, change func(*corev1.PodSpec)) uint64 {
	t.Helper()
	live := fixture.BareDeployment(t, box).DeepCopy()
	change(&live.Spec.Template.Spec)
	return allocated(t, box, live)
}

func allocated(t *testing.T, box *modelv1.ModelBox, live *appsv1.Deployment) uint64 {
	t.Helper()
	rendered, Comparer := fixture.Rendered(t, box, "Deployment"), fixture.NewComparer()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := Comparer.Compare(rendered, live); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
