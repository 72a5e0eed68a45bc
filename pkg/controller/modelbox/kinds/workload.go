// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package kinds has the kinds of children of boxes: what the engine has to know about each, and how to read its state.
package kinds

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
)

// Workload is the object that runs the pods of a box, in the terms that the status of a box is made of. Each kind reports
// them in its own way.
type Workload interface {
	children.Object

	// KindName is what messages call it.
	KindName() string
	PodTemplate() *corev1.PodTemplateSpec
	// Revision identifies the pod template: it changes with that and with nothing else.
	Revision() string
	Replicas() Replicas
	// Rollout is True while its controller brings the pod template to the pods, and RolloutComplete as soon as "kubectl
	// rollout status" says so.
	Rollout() reconciler.Verdict
	// HasProgressDeadline returns whether the controller of the workload reports a rollout that makes no progress.
	HasProgressDeadline() bool
	// Availability is True while enough pods serve.
	Availability() reconciler.Verdict
	// CreationFailure is why pods are not even created, nil if the status of the workload does not say so. The status of some kinds
	// never does.
	CreationFailure() *reconciler.Verdict
	// Pause is what keeps a rollout from getting further, nil for nothing.
	Pause() *pause
	// EarlierPods counts the pods that the workload does not know of although its rollout is complete. They are pods of an earlier
	// workload of its name, which the garbage collector has not deleted yet. They run what the box said then, and the Service leads
	// to them.
	EarlierPods(pods []*corev1.Pod) int32
}

// Replicas are numbers of pods, as the status of a box has them.
type Replicas struct {
	Desired, Current, Updated, Ready, Available int32
}

// AsWorkload returns the object as what runs the pods of a box, nil where it is nothing of the kind.
func AsWorkload(object children.Object) Workload {
	switch object := object.(type) {
	case *appsv1.Deployment:
		return Deployment{object}
	case *appsv1.StatefulSet:
		return StatefulSet{object}
	case *appsv1.DaemonSet:
		return DaemonSet{object}
	case *batchv1.Job:
		return Job{Job: object}
	case *batchv1.CronJob:
		return CronJob{CronJob: object}
	default:
		return nil
	}
}

// IsObserved returns whether the status of the workload is about its spec.
func IsObserved(workload Workload) bool {
	switch workload := workload.(type) {
	case Deployment:
		return workload.Status.ObservedGeneration >= workload.Generation
	case StatefulSet:
		return workload.Status.ObservedGeneration >= workload.Generation
	case DaemonSet:
		return workload.Status.ObservedGeneration >= workload.Generation
	default:
		return true
	}
}
