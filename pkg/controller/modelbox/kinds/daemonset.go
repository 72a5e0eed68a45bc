// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"slices"

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

// DaemonSet is a DaemonSet as a workload.
type DaemonSet struct{ *appsv1.DaemonSet }

func (d DaemonSet) KindName() string { return "DaemonSet" }

func (d DaemonSet) PodTemplate() *corev1.PodTemplateSpec { return &d.Spec.Template }

// Revision is what the API server counts changes of the pod template in. The status does not tell the ControllerRevision.
func (d DaemonSet) Revision() string {
	return d.Annotations[appsv1.DeprecatedTemplateGeneration]
}

func (d DaemonSet) HasProgressDeadline() bool { return false }

// Replicas takes nodes for pods: there is one each.
func (d DaemonSet) Replicas() Replicas {
	return Replicas{
		Desired:   d.Status.DesiredNumberScheduled,
		Current:   d.Status.CurrentNumberScheduled + d.Status.NumberMisscheduled,
		Updated:   d.Status.UpdatedNumberScheduled,
		Ready:     d.Status.NumberReady,
		Available: d.Status.NumberAvailable,
	}
}

// Rollout does not wait for pods on nodes that are no longer to run one: they stay until a user evicts them.
func (d DaemonSet) Rollout() reconciler.Verdict {
	replicas := d.Replicas()
	switch {
	case d.Status.ObservedGeneration < d.Generation:
		return awaitsObservation(d)
	case replicas.Updated < replicas.Desired:
		return awaitsUpdate(replicas)
	case replicas.Available < replicas.Desired:
		return awaitsAvailability(replicas)
	case replicas.Desired == 0:
		return rolloutComplete("no node is to run a pod of the DaemonSet")
	default:
		return rolloutComplete(availableOf(replicas.Available, replicas.Desired))
	}
}

// Availability goes by the number of pods that the update strategy lets be unavailable, 1 unless it says otherwise.
func (d DaemonSet) Availability() reconciler.Verdict {
	var maxUnavailable *intstr.IntOrString
	if rollingUpdate := d.Spec.UpdateStrategy.RollingUpdate; rollingUpdate != nil {
		maxUnavailable = rollingUpdate.MaxUnavailable
	}
	if d.Status.ObservedGeneration == 0 {
		return reconciler.Verdict{Reason: modelv1.ReasonProgressing, Message: "the DaemonSet has not reported yet"}
	}
	return minimumAvailability(d, maxUnavailable)
}

// CreationFailure is nothing that the status says: there are only events.
func (d DaemonSet) CreationFailure() *reconciler.Verdict { return nil }

// Pause is nothing that a DaemonSet has.
func (d DaemonSet) Pause() *pause { return nil }

// EarlierPods takes the pods that have the revision of the newest pod for the pods of the DaemonSet: all of these have the same
// revision by then, and one of them is the newest pod of all. Pods of a StatefulSet of the name, which can be orphaned, have the same
// label for their revision.
func (d DaemonSet) EarlierPods(pods []*corev1.Pod) int32 {
	ofDaemonSets := slices.DeleteFunc(slices.Clone(pods), func(pod *corev1.Pod) bool { return pod.Labels[appsv1.StatefulSetPodNameLabel] != "" })
	return podsOfEarlierRevisions(d.Replicas().Desired, ofDaemonSets, appsv1.DefaultDaemonSetUniqueLabelKey,
		func(string) string { return d.Name + "-" })
}
