// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// row is one sentence of the specification: a valid pod template that is changed in one way, and the errors that follow, by
// fields below the template.
type row struct {
	name   string
	mutate func(*corev1.PodTemplateSpec)
	want   []string
}

func check(t *testing.T, rows []row) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			template := validTemplate()
			row.mutate(template)
			errs := ValidatePodTemplateSpec(t.Context(), template, field.NewPath("template"))
			var got []string
			for _, err := range errs {
				got = append(got, err.Type.String()+": "+strings.TrimPrefix(err.Field, "template."))
			}
			if !slices.Equal(got, row.want) {
				t.Errorf("got %q\nwant %q\nin full: %v", got, row.want, errs.ToAggregate())
			}
		})
	}
}

// validTemplate has a container "web" with a port "http", and nothing defaulted.
func validTemplate() *corev1.PodTemplateSpec {
	return &corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "web", Image: "nginx:1.7.9", Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}},
		}}},
	}
}

// pod changes the pods of the template.
func pod(change func(*corev1.PodSpec)) func(*corev1.PodTemplateSpec) {
	return func(template *corev1.PodTemplateSpec) { change(&template.Spec) }
}

// podContainer changes the container "web".
func podContainer(change func(*corev1.Container)) func(*corev1.PodTemplateSpec) {
	return pod(func(spec *corev1.PodSpec) { change(&spec.Containers[0]) })
}

// beside adds a container "side".
func beside(change func(*corev1.Container)) func(*corev1.PodTemplateSpec) {
	return pod(func(spec *corev1.PodSpec) {
		spec.Containers = append(spec.Containers, sideContainer("side", "", change))
	})
}

// before adds an init container "prepare" that runs to its end.
func before(change func(*corev1.Container)) func(*corev1.PodTemplateSpec) {
	return pod(func(spec *corev1.PodSpec) {
		spec.InitContainers = append(spec.InitContainers, sideContainer("prepare", "", change))
	})
}

// container adds a container "side" with a port "metrics".
func container(change func(*corev1.Container)) func(*corev1.PodTemplateSpec) {
	return pod(func(spec *corev1.PodSpec) {
		spec.Containers = append(spec.Containers, sideContainer("side", "metrics", change))
	})
}

// sidecar adds an init container "side" with a port "metrics" that keeps running.
func sidecar(change func(*corev1.Container)) func(*corev1.PodTemplateSpec) {
	return pod(func(spec *corev1.PodSpec) {
		side := sideContainer("side", "metrics", func(*corev1.Container) {})
		side.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
		change(&side)
		spec.InitContainers = append(spec.InitContainers, side)
	})
}

func sideContainer(name, portName string, change func(*corev1.Container)) corev1.Container {
	c := corev1.Container{Name: name, Image: "side:1"}
	if portName != "" {
		c.Ports = []corev1.ContainerPort{{Name: portName, ContainerPort: 9090, Protocol: corev1.ProtocolTCP}}
	}
	change(&c)
	return c
}

// volume adds a volume "data".
func volume(source corev1.VolumeSource) func(*corev1.PodTemplateSpec) {
	return volumeNamed("data", source)
}

func volumeNamed(name string, source corev1.VolumeSource) func(*corev1.PodTemplateSpec) {
	return func(template *corev1.PodTemplateSpec) {
		template.Spec.Volumes = append(template.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: source})
	}
}

func emptyDir() corev1.VolumeSource {
	return corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
}

func claim() corev1.VolumeSource {
	return corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}
}

// all makes several changes.
func all[T any](changes ...func(*T)) func(*T) {
	return func(object *T) {
		for _, change := range changes {
			change(object)
		}
	}
}
