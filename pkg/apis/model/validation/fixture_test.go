// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
)

// row is one sentence of the specification: a valid box that is changed in one way, and the errors that follow.
type row struct {
	name   string
	mutate func(*model.ModelBox)
	want   []string
}

func check(t *testing.T, rows []row) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			box := validBox()
			row.mutate(box)
			errs := ValidateModelBox(t.Context(), box)
			if got := typesAndFields(errs); !slices.Equal(got, row.want) {
				t.Errorf("got %q\nwant %q\nin full: %v", got, row.want, errs.ToAggregate())
			}
		})
	}
}

func typesAndFields(errs field.ErrorList) []string {
	var got []string
	for _, err := range errs {
		got = append(got, err.Type.String()+": "+err.Field)
	}
	return got
}

// validBox is a defaulted box with a TCP port "http" that leads to port 8080 of the main container.
func validBox() *model.ModelBox {
	return &model.ModelBox{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"},
		Spec: model.ModelBoxSpec{
			Name:            "web",
			Image:           "nginx:1.7.9",
			Replicas:        ptr.To[int32](2),
			Workload:        model.WorkloadDeployment,
			Strategy:        model.StrategyRollingUpdate,
			RollingUpdate:   helper.NewRollingUpdate(intstr.FromString("25%")),
			MinReadySeconds: ptr.To[int32](3),
			Ports:           []corev1.ServicePort{servicePort("http", 80, 8080)},
			ResourceType:    model.ResourceTypeCustom,
			DefaultProbes:   model.DefaultProbesEnabled,
		},
	}
}

func servicePort(name string, port, targetPort int32) corev1.ServicePort {
	return corev1.ServicePort{Name: name, Port: port, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(targetPort)}
}

// port changes the only port of the box.
func port(change func(*corev1.ServicePort)) func(*model.ModelBox) {
	return func(box *model.ModelBox) { change(&box.Spec.Ports[0]) }
}

// ports replaces the ports of the box.
func ports(ports ...corev1.ServicePort) func(*model.ModelBox) {
	return func(box *model.ModelBox) { box.Spec.Ports = ports }
}

// container adds a container "side" with a port "metrics".
func container(change func(*corev1.Container)) func(*model.ModelBox) {
	return func(box *model.ModelBox) {
		box.Spec.Containers = append(box.Spec.Containers, sideContainer("side", "metrics", change))
	}
}

// sidecar adds an init container "side" with a port "metrics" that keeps running.
func sidecar(change func(*corev1.Container)) func(*model.ModelBox) {
	return func(box *model.ModelBox) {
		side := sideContainer("side", "metrics", func(*corev1.Container) {})
		side.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
		change(&side)
		box.Spec.InitContainers = append(box.Spec.InitContainers, side)
	}
}

// initContainer adds an init container "prepare" that runs to its end.
func initContainer(change func(*corev1.Container)) func(*model.ModelBox) {
	return func(box *model.ModelBox) {
		box.Spec.InitContainers = append(box.Spec.InitContainers, sideContainer("prepare", "", change))
	}
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
func volume(source corev1.VolumeSource) func(*model.ModelBox) {
	return volumeNamed("data", source)
}

func volumeNamed(name string, source corev1.VolumeSource) func(*model.ModelBox) {
	return func(box *model.ModelBox) {
		box.Spec.Volumes = append(box.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: source})
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
