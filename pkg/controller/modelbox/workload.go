// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
)

// workload is the object that runs the pods of a box, in the terms that the status of a box is made of. Each kind reports
// them in its own way.
type workload interface {
	children.Object

	// kind is what messages call it.
	kind() string
	podTemplate() *corev1.PodTemplateSpec
	// revision identifies the pod template: it changes with that and with nothing else.
	revision() string
	replicas() replicas
	// rollout is True while its controller brings the pod template to the pods, and RolloutComplete as soon as "kubectl
	// rollout status" says so.
	rollout() reconciler.Verdict
	// hasProgressDeadline returns whether the controller of the workload reports a rollout that makes no progress.
	hasProgressDeadline() bool
	// availability is True while enough pods serve.
	availability() reconciler.Verdict
	// creationFailure is why pods are not even created, nil if the status of the workload does not say so. The status of some kinds
	// never does: see Controller.creationFailure.
	creationFailure() *reconciler.Verdict
	// pause is what keeps a rollout from getting further, nil for nothing.
	pause() *pause
	// earlierPods counts the pods that the workload does not know of although its rollout is complete. They are pods of an earlier
	// workload of its name, which the garbage collector has not deleted yet. They run what the box said then, and the Service leads
	// to them.
	earlierPods(pods []*corev1.Pod) int32
}

// replicas are numbers of pods, as the status of a box has them.
type replicas struct {
	desired, current, updated, ready, available int32
}

// asWorkload returns the object as what runs the pods of a box, nil where it is nothing of the kind.
func asWorkload(object children.Object) workload {
	switch object := object.(type) {
	case *appsv1.Deployment:
		return deploymentWorkload{object}
	case *appsv1.StatefulSet:
		return statefulSetWorkload{object}
	case *appsv1.DaemonSet:
		return daemonSetWorkload{object}
	default:
		return nil
	}
}
