// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/debugcontainer"
)

func newPod(name string, changes ...func(*corev1.Pod)) corev1.Pod {
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}
	pod.Spec.NodeName, pod.Status.Phase = "node", corev1.PodRunning
	pod.Spec.Containers = []corev1.Container{{Name: "injected"}, {Name: "web"}}
	pod.Spec.InitContainers = []corev1.Container{{Name: "prepare"}}
	for _, change := range changes {
		change(&pod)
	}
	return pod
}

func readySince(seconds int64) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Unix(seconds, 0)}}
	}
}

func restarted(times int32) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Status.ContainerStatuses = []corev1.ContainerStatus{{RestartCount: times}} }
}

func inPhase(phase corev1.PodPhase) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Status.Phase = phase }
}

func createdAt(seconds int64) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.CreationTimestamp = metav1.Unix(seconds, 0) }
}

func TestSelectPodTakesTheMostActive(t *testing.T) {
	ending := func(pod *corev1.Pod) { pod.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }
	unassigned := func(pod *corev1.Pod) { pod.Spec.NodeName = "" }
	for _, test := range []struct {
		name         string
		best, others corev1.Pod
	}{
		{"one that does not end", newPod("z"), newPod("a", ending, readySince(1))},
		{"one that has a node", newPod("z", inPhase(corev1.PodPending)), newPod("a", inPhase(corev1.PodPending), unassigned)},
		{"one that runs", newPod("z"), newPod("a", inPhase(corev1.PodPending))},
		{"one that will run rather than one that has", newPod("z", inPhase(corev1.PodPending)), newPod("a", inPhase(corev1.PodSucceeded))},
		{"one that is ready", newPod("z", readySince(9)), newPod("a")},
		{"one that has been ready for longer", newPod("z", readySince(1)), newPod("a", readySince(2))},
		{"one that was restarted less often", newPod("z", restarted(1)), newPod("a", restarted(2))},
		{"one that is older", newPod("z", createdAt(1)), newPod("a", createdAt(2))},
		{"the first by name", newPod("a"), newPod("z")},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, pods := range [][]corev1.Pod{{test.best, test.others}, {test.others, test.best}} {
				pod, err := SelectPod(&modelv1.ModelBox{}, pods, "")
				if err != nil || pod.Name != test.best.Name {
					t.Errorf("got %v, %v", pod.Name, err)
				}
			}
		})
	}
}

func TestSelectPodByName(t *testing.T) {
	pods := []corev1.Pod{newPod("a", readySince(1)), newPod("b")}
	if pod, err := SelectPod(&modelv1.ModelBox{}, pods, "b"); err != nil || pod.Name != "b" {
		t.Errorf("got %v, %v", pod, err)
	}
	if _, err := SelectPod(&modelv1.ModelBox{}, pods, "c"); !apierrors.IsNotFound(err) {
		t.Errorf("one of another box: %v", err)
	}
	if _, err := SelectPod(&modelv1.ModelBox{}, nil, ""); !apierrors.IsConflict(err) {
		t.Errorf("without pods: %v", err)
	}
}

func TestSelectContainer(t *testing.T) {
	annotated := func(name string) corev1.Pod {
		return newPod("a", func(pod *corev1.Pod) {
			pod.Annotations = map[string]string{debugcontainer.DefaultContainerAnnotation: name}
		})
	}
	for _, test := range []struct {
		name, box, specName, asked string
		pod                        corev1.Pod
		want                       string
	}{
		{"the one that is named", "web", "", "injected", newPod("a"), "injected"},
		{"an init container that is named", "web", "", "prepare", newPod("a"), "prepare"},
		{"the one of the annotation", "web", "", "", annotated("injected"), "injected"},
		{"an annotation of a container that is not there", "web", "", "", annotated("none"), "web"},
		{"the main one of the box", "web", "", "", newPod("a"), "web"},
		{"the main one, which has another name than the box", "shop", "web", "", newPod("a"), "web"},
		{"the first one", "adopted", "", "", newPod("a"), "injected"},
	} {
		t.Run(test.name, func(t *testing.T) {
			box := &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Name: test.box}, Spec: modelv1.ModelBoxSpec{Name: test.specName}}
			if got, err := SelectContainer(box, &test.pod, test.asked); err != nil || got != test.want {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}
		})
	}
	pod := newPod("a")
	if _, err := SelectContainer(&modelv1.ModelBox{}, &pod, "none"); !apierrors.IsBadRequest(err) {
		t.Errorf("one that is not there: %v", err)
	}
}
