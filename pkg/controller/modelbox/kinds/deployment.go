// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package kinds

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

// DeploymentRevision is the annotation that the Deployment controller counts rollouts in.
const DeploymentRevision = "deployment.kubernetes.io/revision"

// deploymentKind returns the Deployments of boxes as a kind of children.
func deploymentKind(cluster kubernetes.Interface, informer cache.SharedIndexInformer) *children.Kind {
	kind := children.NewKind(modelboxapply.Kind(childkinds.Deployment), informer,
		func(namespace string) children.Client[*appsv1.Deployment] {
			return cluster.AppsV1().Deployments(namespace)
		})
	kind.PreservedFields = fieldpath.NewSet(replicasPath, podMetadataPath, pausedPath)
	return kind
}

// Deployment is a Deployment as a workload.
type Deployment struct{ *appsv1.Deployment }

func (d Deployment) KindName() string { return "Deployment" }

func (d Deployment) PodTemplate() *corev1.PodTemplateSpec { return &d.Spec.Template }

func (d Deployment) Revision() string { return d.Annotations[DeploymentRevision] }

func (d Deployment) HasProgressDeadline() bool { return true }

func (d Deployment) Replicas() Replicas {
	return Replicas{
		Desired:   ptr.Deref(d.Spec.Replicas, 1),
		Current:   d.Status.Replicas,
		Updated:   d.Status.UpdatedReplicas,
		Ready:     d.Status.ReadyReplicas,
		Available: d.Status.AvailableReplicas,
	}
}

func (d Deployment) Rollout() reconciler.Verdict {
	replicas, progress := d.Replicas(), d.Condition(appsv1.DeploymentProgressing)
	switch {
	case d.Status.ObservedGeneration < d.Generation:
		return awaitsObservation(d)
	case progress != nil && progress.Reason == "ProgressDeadlineExceeded":
		return reconciler.Verdict{Reason: modelv1.ReasonProgressDeadlineExceeded, Message: progress.Message}
	case replicas.Updated < replicas.Desired:
		return awaitsUpdate(replicas)
	case replicas.Current > replicas.Updated:
		return awaitsTermination(replicas.Current-replicas.Updated, "old")
	case replicas.Current > replicas.Desired:
		return awaitsTermination(replicas.Current-replicas.Desired, "surplus")
	case replicas.Available < replicas.Updated:
		return awaitsAvailability(replicas)
	default:
		return rolloutComplete(availableOf(replicas.Available, replicas.Desired))
	}
}

func (d Deployment) Availability() reconciler.Verdict {
	available := d.Condition(appsv1.DeploymentAvailable)
	if available == nil {
		return reconciler.Verdict{Reason: modelv1.ReasonProgressing, Message: "the Deployment has not reported yet"}
	}
	return reconciler.Verdict{IsTrue: available.Status == corev1.ConditionTrue, Reason: available.Reason, Message: available.Message}
}

// CreationFailure is of a Deployment whose ReplicaSet fails to create pods, for the lack of quota among others.
func (d Deployment) CreationFailure() *reconciler.Verdict {
	failure := d.Condition(appsv1.DeploymentReplicaFailure)
	if failure == nil || failure.Status != corev1.ConditionTrue {
		return nil
	}
	return &reconciler.Verdict{Reason: failure.Reason, Message: failure.Message}
}

// pausedPath is where a Deployment is paused. It still scales and replaces pods then.
var pausedPath = fieldpath.MakePathOrDie("spec", "paused")

func (d Deployment) Pause() *pause {
	if !d.Spec.Paused {
		return nil
	}
	// While it is rolling out, it has still to bring the current pod template to replicas, which is more than to scale
	// those that run it.
	status := &d.Status
	isRollingOut := status.ObservedGeneration >= d.Generation && (status.Replicas > status.UpdatedReplicas || status.UpdatedReplicas == 0)
	return &pause{
		path:         pausedPath,
		Reason:       modelv1.ReasonDeploymentPaused,
		message:      fmt.Sprintf("has paused the Deployment, until \"kubectl rollout resume deployment/%s\"", d.Name),
		StopsRollout: isRollingOut,
	}
}

// EarlierPods takes the pods that have the hash of the newest pod for the pods of the Deployment: all of these have the same hash
// by then, and one of them is the newest pod of all.
func (d Deployment) EarlierPods(pods []*corev1.Pod) int32 {
	return podsOfEarlierRevisions(d.Replicas().Desired, pods, appsv1.DefaultDeploymentUniqueLabelKey,
		func(hash string) string { return d.Name + "-" + hash + "-" })
}

func (d Deployment) Condition(conditionType appsv1.DeploymentConditionType) *appsv1.DeploymentCondition {
	for i := range d.Status.Conditions {
		if d.Status.Conditions[i].Type == conditionType {
			return &d.Status.Conditions[i]
		}
	}
	return nil
}
