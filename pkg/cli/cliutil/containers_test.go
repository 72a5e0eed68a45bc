// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cliutil

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// box has a main container, a sidecar and an init container.
func box() *modelv1.ModelBox {
	return &modelv1.ModelBox{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: modelv1.ModelBoxSpec{
			Name:           "nginx",
			Image:          "nginx:1",
			Envs:           []corev1.EnvVar{{Name: "A", Value: "1"}},
			Containers:     []corev1.Container{{Name: "sidecar", Image: "sidecar:1"}},
			InitContainers: []corev1.Container{{Name: "init", Image: "init:1"}},
		},
	}
}

func stack() *modelv1.ModelStack {
	return &modelv1.ModelStack{
		ObjectMeta: metav1.ObjectMeta{Name: "shop"},
		Spec: modelv1.ModelStackSpec{Components: []modelv1.ModelStackComponent{
			{Name: "mail", External: &modelv1.ModelStackExternal{Host: "mail.example.com", Port: 25}},
			{Name: "web", Box: &box().Spec},
		}},
	}
}

// setImages sets the image of each container to its own name.
func setImages(spec *corev1.PodSpec) error {
	for i := range spec.Containers {
		spec.Containers[i].Image = spec.Containers[i].Name
	}
	for i := range spec.InitContainers {
		spec.InitContainers[i].Image = spec.InitContainers[i].Name
	}
	return nil
}

func TestUpdatePodSpec(t *testing.T) {
	for _, test := range []struct {
		name   string
		object runtime.Object
		change func(*corev1.PodSpec) error
		want   func() runtime.Object
	}{{
		name:   "images of a box",
		object: box(),
		change: setImages,
		want: func() runtime.Object {
			want := box()
			want.Spec.Image, want.Spec.Containers[0].Image, want.Spec.InitContainers[0].Image = "nginx", "sidecar", "init"
			return want
		},
	}, {
		name:   "images of a stack have the names of components",
		object: stack(),
		change: setImages,
		want: func() runtime.Object {
			want := stack()
			spec := want.Spec.Components[1].Box
			spec.Image, spec.Containers[0].Image, spec.InitContainers[0].Image = "web", "web/sidecar", "web/init"
			return want
		},
	}, {
		name:   "a box without a name for its container",
		object: &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Name: "web"}},
		change: setImages,
		want: func() runtime.Object {
			return &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: modelv1.ModelBoxSpec{Image: "web"}}
		},
	}, {
		name:   "the last variable is removed, and limits are added",
		object: box(),
		change: func(spec *corev1.PodSpec) error {
			spec.Containers[0].Env = []corev1.EnvVar{}
			spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
			return nil
		},
		want: func() runtime.Object {
			want := box()
			want.Spec.Envs = nil
			want.Spec.Resources = &corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}}
			return want
		},
	}, {
		name:   "nothing changes",
		object: box(),
		change: func(*corev1.PodSpec) error { return nil },
		want:   func() runtime.Object { return box() },
	}} {
		t.Run(test.name, func(t *testing.T) {
			if ok, err := updatePodSpec(nil)(test.object, test.change); !ok || err != nil {
				t.Fatalf("got %v, %v", ok, err)
			}
			if diff := cmp.Diff(test.want(), test.object); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestUpdatePodSpecOfOtherKindsIsLeftToKubectl(t *testing.T) {
	asked := errors.New("asked")
	others := func(runtime.Object, func(*corev1.PodSpec) error) (bool, error) { return false, asked }
	if _, err := updatePodSpec(others)(&corev1.Pod{}, setImages); !errors.Is(err, asked) {
		t.Errorf("got %v", err)
	}
}

func TestPauseAndResume(t *testing.T) {
	RegisterTypes()
	for _, object := range []runtime.Object{box(), stack()} {
		paused, err := pausedField(object)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := resumer(object); err == nil || err.Error() != "is not paused" {
			t.Errorf("resuming a %T: %v", object, err)
		}
		if _, err := pauser(object); err != nil || !*paused {
			t.Errorf("pausing a %T: %v, it is paused: %v", object, err, *paused)
		}
		if _, err := pauser(object); err == nil || err.Error() != "is already paused" {
			t.Errorf("pausing a %T again: %v", object, err)
		}
		if _, err := resumer(object); err != nil || *paused {
			t.Errorf("resuming a %T: %v, it is paused: %v", object, err, *paused)
		}
	}
	if _, err := pauser(&corev1.Pod{}); err == nil {
		t.Error("a pod has been paused")
	}
}
