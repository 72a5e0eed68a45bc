// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/childkinds"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modelboxapply "github.com/sharelinuxs/modelbox-apiserver/pkg/apply/modelbox"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
)

// deploymentRevision is the annotation that the Deployment controller counts rollouts in.
const deploymentRevision = "deployment.kubernetes.io/revision"

// deploymentKind returns the Deployments of boxes as a kind of children.
func deploymentKind(cluster kubernetes.Interface, informer cache.SharedIndexInformer) *children.Kind {
	kind := children.NewKind(modelboxapply.Kind(childkinds.Deployment), informer,
		func(namespace string) children.Client[*appsv1.Deployment] {
			return cluster.AppsV1().Deployments(namespace)
		})
	kind.PreservedFields = fieldpath.NewSet(replicasPath, podMetadataPath, pausedPath)
	return kind
}

// deploymentWorkload is a Deployment as a workload.
type deploymentWorkload struct{ *appsv1.Deployment }

func (d deploymentWorkload) kind() string { return "Deployment" }

func (d deploymentWorkload) podTemplate() *corev1.PodTemplateSpec { return &d.Spec.Template }

func (d deploymentWorkload) revision() string { return d.Annotations[deploymentRevision] }

func (d deploymentWorkload) hasProgressDeadline() bool { return true }

func (d deploymentWorkload) replicas() replicas {
	return replicas{
		desired:   ptr.Deref(d.Spec.Replicas, 1),
		current:   d.Status.Replicas,
		updated:   d.Status.UpdatedReplicas,
		ready:     d.Status.ReadyReplicas,
		available: d.Status.AvailableReplicas,
	}
}

func (d deploymentWorkload) rollout() reconciler.Verdict {
	replicas, progress := d.replicas(), d.condition(appsv1.DeploymentProgressing)
	switch {
	case d.Status.ObservedGeneration < d.Generation:
		return awaitsObservation(d)
	case progress != nil && progress.Reason == "ProgressDeadlineExceeded":
		return reconciler.Verdict{Reason: modelv1.ReasonProgressDeadlineExceeded, Message: progress.Message}
	case replicas.updated < replicas.desired:
		return awaitsUpdate(replicas)
	case replicas.current > replicas.updated:
		return awaitsTermination(replicas.current-replicas.updated, "old")
	case replicas.current > replicas.desired:
		return awaitsTermination(replicas.current-replicas.desired, "surplus")
	case replicas.available < replicas.updated:
		return awaitsAvailability(replicas)
	default:
		return rolloutComplete(availableOf(replicas.available, replicas.desired))
	}
}

func (d deploymentWorkload) availability() reconciler.Verdict {
	available := d.condition(appsv1.DeploymentAvailable)
	if available == nil {
		return reconciler.Verdict{Reason: modelv1.ReasonProgressing, Message: "the Deployment has not reported yet"}
	}
	return reconciler.Verdict{IsTrue: available.Status == corev1.ConditionTrue, Reason: available.Reason, Message: available.Message}
}

// creationFailure is of a Deployment whose ReplicaSet fails to create pods, for the lack of quota among others.
func (d deploymentWorkload) creationFailure() *reconciler.Verdict {
	failure := d.condition(appsv1.DeploymentReplicaFailure)
	if failure == nil || failure.Status != corev1.ConditionTrue {
		return nil
	}
	return &reconciler.Verdict{Reason: failure.Reason, Message: failure.Message}
}

// pausedPath is where a Deployment is paused. It still scales and replaces pods then.
var pausedPath = fieldpath.MakePathOrDie("spec", "paused")

func (d deploymentWorkload) pause() *pause {
	if !d.Spec.Paused {
		return nil
	}
	// While it is rolling out, it has still to bring the current pod template to replicas, which is more than to scale
	// those that run it.
	status := &d.Status
	isRollingOut := status.ObservedGeneration >= d.Generation && (status.Replicas > status.UpdatedReplicas || status.UpdatedReplicas == 0)
	return &pause{
		path:         pausedPath,
		reason:       modelv1.ReasonDeploymentPaused,
		message:      fmt.Sprintf("has paused the Deployment, until \"kubectl rollout resume deployment/%s\"", d.Name),
		stopsRollout: isRollingOut,
	}
}

// earlierPods takes the pods that have the hash of the newest pod for the pods of the Deployment: all of these have the same hash
// by then, and one of them is the newest pod of all.
func (d deploymentWorkload) earlierPods(pods []*corev1.Pod) int32 {
	return podsOfEarlierRevisions(d.replicas().desired, pods, appsv1.DefaultDeploymentUniqueLabelKey,
		func(hash string) string { return d.Name + "-" + hash + "-" })
}

func (d deploymentWorkload) condition(conditionType appsv1.DeploymentConditionType) *appsv1.DeploymentCondition {
	for i := range d.Status.Conditions {
		if d.Status.Conditions[i].Type == conditionType {
			return &d.Status.Conditions[i]
		}
	}
	return nil
}
