// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/childkinds"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modelboxapply "github.com/sharelinuxs/modelbox-apiserver/pkg/apply/modelbox"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
)

// daemonSetKind returns the DaemonSets of boxes as a kind of children.
func daemonSetKind(cluster kubernetes.Interface, informer cache.SharedIndexInformer) *children.Kind {
	kind := children.NewKind(modelboxapply.Kind(childkinds.DaemonSet), informer,
		func(namespace string) children.Client[*appsv1.DaemonSet] {
			return cluster.AppsV1().DaemonSets(namespace)
		})
	kind.PreservedFields = fieldpath.NewSet(podMetadataPath)
	return kind
}

// daemonSetWorkload is a DaemonSet as a workload.
type daemonSetWorkload struct{ *appsv1.DaemonSet }

func (d daemonSetWorkload) kind() string { return "DaemonSet" }

func (d daemonSetWorkload) podTemplate() *corev1.PodTemplateSpec { return &d.Spec.Template }

// revision is what the API server counts changes of the pod template in. The status does not tell the ControllerRevision.
func (d daemonSetWorkload) revision() string {
	return d.Annotations[appsv1.DeprecatedTemplateGeneration]
}

func (d daemonSetWorkload) hasProgressDeadline() bool { return false }

// replicas takes nodes for pods: there is one each.
func (d daemonSetWorkload) replicas() replicas {
	return replicas{
		desired:   d.Status.DesiredNumberScheduled,
		current:   d.Status.CurrentNumberScheduled + d.Status.NumberMisscheduled,
		updated:   d.Status.UpdatedNumberScheduled,
		ready:     d.Status.NumberReady,
		available: d.Status.NumberAvailable,
	}
}

// rollout does not wait for pods on nodes that are no longer to run one: they stay until a user evicts them.
func (d daemonSetWorkload) rollout() reconciler.Verdict {
	replicas := d.replicas()
	switch {
	case d.Status.ObservedGeneration < d.Generation:
		return awaitsObservation(d)
	case replicas.updated < replicas.desired:
		return awaitsUpdate(replicas)
	case replicas.available < replicas.desired:
		return awaitsAvailability(replicas)
	case replicas.desired == 0:
		return rolloutComplete("no node is to run a pod of the DaemonSet")
	default:
		return rolloutComplete(availableOf(replicas.available, replicas.desired))
	}
}

// availability goes by the number of pods that the update strategy lets be unavailable, 1 unless it says otherwise.
func (d daemonSetWorkload) availability() reconciler.Verdict {
	var maxUnavailable *intstr.IntOrString
	if rollingUpdate := d.Spec.UpdateStrategy.RollingUpdate; rollingUpdate != nil {
		maxUnavailable = rollingUpdate.MaxUnavailable
	}
	if d.Status.ObservedGeneration == 0 {
		return reconciler.Verdict{Reason: modelv1.ReasonProgressing, Message: "the DaemonSet has not reported yet"}
	}
	return minimumAvailability(d, maxUnavailable)
}

// creationFailure is nothing that the status says: there are only events.
func (d daemonSetWorkload) creationFailure() *reconciler.Verdict { return nil }

// pause is nothing that a DaemonSet has.
func (d daemonSetWorkload) pause() *pause { return nil }

// earlierPods takes the pods that have the revision of the newest pod for the pods of the DaemonSet: all of these have the same
// revision by then, and one of them is the newest pod of all.
func (d daemonSetWorkload) earlierPods(pods []*corev1.Pod) int32 {
	return podsOfEarlierRevisions(d.replicas().desired, pods, appsv1.DefaultDaemonSetUniqueLabelKey,
		func(string) string { return d.Name + "-" })
}
