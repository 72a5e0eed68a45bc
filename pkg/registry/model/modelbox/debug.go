// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/debugcontainer"
)

// maxEphemeralContainers is how many a pod has at most by this server, which grows with each of them for as long as it lives.
const maxEphemeralContainers = 50

// SelectDebugPods returns the pods of the box that the request is for, by their names: the one that it names, the most active
// one, or all that have neither ended nor are to end. It returns 404 for a name that none of them has, 409 where there is no
// pod that can be debugged, and 422 where there are more than can be debugged at once.
func SelectDebugPods(box *modelv1.ModelBox, pods []corev1.Pod, debug *model.ModelBoxDebug) ([]*corev1.Pod, error) {
	if !debug.AllPods {
		pod, err := SelectPod(box, pods, debug.Pod)
		if err != nil {
			return nil, err
		}
		if err := canDebug(pod); err != nil {
			return nil, apierrors.NewConflict(corev1.Resource("pods"), pod.Name, err)
		}
		return []*corev1.Pod{pod}, nil
	}
	var selected []*corev1.Pod
	for i := range pods {
		if canDebug(&pods[i]) == nil {
			selected = append(selected, &pods[i])
		}
	}
	switch {
	case len(selected) == 0:
		return nil, apierrors.NewConflict(modelv1.Resource("modelboxes"), box.Name, errors.New("it has no pods that run"))
	case len(selected) > modelv1.MaxDebugPods:
		return nil, apierrors.NewInvalid(model.Kind("ModelBoxDebug"), box.Name, field.ErrorList{field.Invalid(field.NewPath("allPods"), true,
			fmt.Sprintf("the box has %d pods, of which %d can be debugged at once: specify one with pod", len(selected), modelv1.MaxDebugPods))})
	}
	slices.SortFunc(selected, func(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return selected, nil
}

// canDebug returns why no container can be added to the pod.
func canDebug(pod *corev1.Pod) error {
	switch {
	case pod.DeletionTimestamp != nil:
		return errors.New("it is being deleted")
	case pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed:
		return fmt.Errorf("it ran to completion with phase %s", pod.Status.Phase)
	}
	return nil
}

// NewDebugContainer returns the container of the name that the request asks for in the pod of the box. It returns 409 for a pod
// that has as many ephemeral containers as it may, and 422 for what the pod does not allow.
func NewDebugContainer(box *modelv1.ModelBox, pod *corev1.Pod, debug *model.ModelBoxDebug, name string) (*corev1.EphemeralContainer, error) {
	if len(pod.Spec.EphemeralContainers) >= maxEphemeralContainers {
		return nil, apierrors.NewConflict(corev1.Resource("pods"), pod.Name,
			fmt.Errorf("it has %d ephemeral containers, which cannot be removed: delete the pod to replace it", len(pod.Spec.EphemeralContainers)))
	}
	var errs field.ErrorList
	if debugcontainer.HasContainer(pod, name) {
		errs = append(errs, field.Duplicate(field.NewPath("containerName"), name))
	}
	target := cmp.Or(debug.TargetContainer, debugcontainer.DefaultTarget(pod, box.Spec.Name, box.Name))
	if targets := targetNames(pod); !slices.Contains(targets, target) {
		errs = append(errs, field.NotSupported(field.NewPath("targetContainer"), target, targets))
	}
	if len(errs) > 0 {
		return nil, apierrors.NewInvalid(model.Kind("ModelBoxDebug"), box.Name, errs)
	}
	return debugcontainer.New(debugcontainer.Options{
		Name:                name,
		Image:               debug.Image,
		ImagePullPolicy:     debug.ImagePullPolicy,
		Command:             debug.Command,
		Args:                debug.Args,
		Env:                 debug.Env,
		TargetContainerName: target,
		Stdin:               debug.Stdin,
		TTY:                 debug.TTY,
		Profile:             debugcontainer.Profile(debug.Profile),
	})
}

// targetNames returns the containers whose processes can be seen: those that are no ephemeral ones.
func targetNames(pod *corev1.Pod) []string {
	names := debugcontainer.ContainerNames(pod)
	return names[:len(names)-len(pod.Spec.EphemeralContainers)]
}
