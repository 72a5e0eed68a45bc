// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/debugcontainer"
)

// SelectPod returns the pod of that name among the pods of the box, or the most active one for an empty name. It returns 404
// for a name that none of them has, and 409 where there is no pod at all.
func SelectPod(box *modelv1.ModelBox, pods []corev1.Pod, name string) (*corev1.Pod, error) {
	if name != "" {
		i := slices.IndexFunc(pods, func(pod corev1.Pod) bool { return pod.Name == name })
		if i < 0 {
			return nil, apierrors.NewNotFound(corev1.Resource("pods"), name)
		}
		return &pods[i], nil
	}
	if len(pods) == 0 {
		return nil, apierrors.NewConflict(modelv1.Resource("modelboxes"), box.Name, fmt.Errorf("it has no pods"))
	}
	pod := slices.MinFunc(pods, compareActivity)
	return &pod, nil
}

// compareActivity orders pods as podutils.ActivePods of kubectl does, the most active one first, and those that are to end last.
func compareActivity(a, b corev1.Pod) int {
	return cmp.Or(
		compareBool(a.DeletionTimestamp == nil, b.DeletionTimestamp == nil),
		compareBool(a.Spec.NodeName != "", b.Spec.NodeName != ""),
		cmp.Compare(phaseOrder(a.Status.Phase), phaseOrder(b.Status.Phase)),
		compareBool(readyCondition(&a) != nil, readyCondition(&b) != nil),
		compareReadySince(&a, &b),
		cmp.Compare(maxRestarts(&a), maxRestarts(&b)),
		a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
		strings.Compare(a.Name, b.Name),
	)
}

// compareBool puts what is true first.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	default:
		return 1
	}
}

func phaseOrder(phase corev1.PodPhase) int {
	switch phase {
	case corev1.PodRunning:
		return 0
	case corev1.PodUnknown:
		return 1
	case corev1.PodPending:
		return 2
	default:
		return 3 // it has ended
	}
}

// readyCondition returns the condition that says that the pod is ready, nil where it is not.
func readyCondition(pod *corev1.Pod) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if condition := &pod.Status.Conditions[i]; condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
			return condition
		}
	}
	return nil
}

func compareReadySince(a, b *corev1.Pod) int {
	readyA, readyB := readyCondition(a), readyCondition(b)
	if readyA == nil || readyB == nil {
		return 0
	}
	return readyA.LastTransitionTime.Compare(readyB.LastTransitionTime.Time)
}

func maxRestarts(pod *corev1.Pod) int32 {
	var restarts int32
	for i := range pod.Status.ContainerStatuses {
		restarts = max(restarts, pod.Status.ContainerStatuses[i].RestartCount)
	}
	return restarts
}

// SelectContainer returns the name of a container of the pod: name itself, unless that is empty, the default one of the pod, the
// main one of the box, or the first one. It returns 400 for a name that none has, init containers and ephemeral ones included.
func SelectContainer(box *modelv1.ModelBox, pod *corev1.Pod, name string) (string, error) {
	names := debugcontainer.ContainerNames(pod)
	if name != "" {
		if !slices.Contains(names, name) {
			return "", apierrors.NewBadRequest(fmt.Sprintf("container %s is not valid for pod %s out of: %s", name, pod.Name, strings.Join(names, ", ")))
		}
		return name, nil
	}
	for _, name := range []string{pod.Annotations[debugcontainer.DefaultContainerAnnotation], box.Spec.Name, box.Name} {
		if name != "" && slices.Contains(names, name) {
			return name, nil
		}
	}
	return pod.Spec.Containers[0].Name, nil
}
