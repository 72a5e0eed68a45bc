// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/childkinds"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modelboxapply "github.com/sharelinuxs/modelbox-apiserver/pkg/apply/modelbox"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/timeout"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// statefulSetKind returns the StatefulSets of boxes as a kind of children.
func statefulSetKind(cluster kubernetes.Interface, informer cache.SharedIndexInformer) *children.Kind {
	kind := children.NewKind(modelboxapply.Kind(childkinds.StatefulSet), informer,
		func(namespace string) children.Client[*appsv1.StatefulSet] {
			return cluster.AppsV1().StatefulSets(namespace)
		})
	kind.PreservedFields = fieldpath.NewSet(
		replicasPath,
		podMetadataPath,
		fieldpath.MakePathOrDie("spec", "ordinals"),
		fieldpath.MakePathOrDie("spec", "podManagementPolicy"),
	)
	kind.Inherited = fieldpath.NewSet(replicasPath)
	kind.ReplacePropagation = StatefulSetReplacePropagation
	return kind
}

// StatefulSetReplacePropagation orphans the pods of a StatefulSet that is deleted to be created again: the new one adopts them. It
// deletes the pods if the new one selects other pods.
func StatefulSetReplacePropagation(rendered *unstructured.Unstructured, live children.Object) metav1.DeletionPropagation {
	if modelboxrender.ImmutableSelector(rendered, live) != "" {
		return metav1.DeletePropagationBackground
	}
	return metav1.DeletePropagationOrphan
}

// StatefulSet is a StatefulSet as a workload.
type StatefulSet struct{ *appsv1.StatefulSet }

func (s StatefulSet) KindName() string { return "StatefulSet" }

func (s StatefulSet) PodTemplate() *corev1.PodTemplateSpec { return &s.Spec.Template }

func (s StatefulSet) Revision() string { return s.Status.UpdateRevision }

func (s StatefulSet) HasProgressDeadline() bool { return false }

func (s StatefulSet) Replicas() Replicas {
	return Replicas{
		Desired:   ptr.Deref(s.Spec.Replicas, 1),
		Current:   s.Status.Replicas,
		Updated:   s.Status.UpdatedReplicas,
		Ready:     s.Status.ReadyReplicas,
		Available: s.Status.AvailableReplicas,
	}
}

func (s StatefulSet) Rollout() reconciler.Verdict {
	replicas := s.Replicas()
	switch {
	case s.Status.ObservedGeneration < s.Generation:
		return awaitsObservation(s)
	case replicas.Updated < replicas.Desired:
		return awaitsUpdate(replicas)
	case replicas.Current > replicas.Desired:
		return awaitsTermination(replicas.Current-replicas.Desired, "surplus")
	case min(replicas.Ready, replicas.Available) < replicas.Desired:
		return awaitsAvailability(replicas)
	default:
		return rolloutComplete(availableOf(replicas.Available, replicas.Desired))
	}
}

// Availability goes by the number of pods that the update strategy lets be unavailable, 1 unless it says otherwise.
func (s StatefulSet) Availability() reconciler.Verdict {
	var maxUnavailable *intstr.IntOrString
	if rollingUpdate := s.Spec.UpdateStrategy.RollingUpdate; rollingUpdate != nil {
		maxUnavailable = rollingUpdate.MaxUnavailable
	}
	return minimumAvailability(s, maxUnavailable)
}

// CreationFailure is nothing that the status says: there are only events.
func (s StatefulSet) CreationFailure() *reconciler.Verdict { return nil }

// partitionPath is where an update of a StatefulSet is kept from the pods whose ordinals are less.
var partitionPath = fieldpath.MakePathOrDie("spec", "updateStrategy", "rollingUpdate", "partition")

func (s StatefulSet) Pause() *pause {
	rollingUpdate := s.Spec.UpdateStrategy.RollingUpdate
	if rollingUpdate == nil || ptr.Deref(rollingUpdate.Partition, 0) == 0 {
		return nil
	}
	replicas, partition := s.Replicas(), *rollingUpdate.Partition
	toUpdate := max(0, replicas.Desired-partition)
	isUpdated := s.Status.ObservedGeneration >= s.Generation && replicas.Updated >= toUpdate && replicas.Available >= replicas.Desired
	return &pause{
		path:         partitionPath,
		Reason:       modelv1.ReasonStatefulSetPartitioned,
		message:      fmt.Sprintf("has set the partition of the StatefulSet to %d: pods of lower ordinals are not updated until it is 0", partition),
		StopsRollout: isUpdated && replicas.Updated < replicas.Desired,
	}
}

// EarlierPods counts pods with an ordinal beyond the ordinals of the StatefulSet. A pod of an earlier StatefulSet keeps its name
// until it is gone, and there is no other pod of that name before.
func (s StatefulSet) EarlierPods(pods []*corev1.Pod) int32 {
	var start int32
	if s.Spec.Ordinals != nil {
		start = s.Spec.Ordinals.Start
	}
	end := start + s.Replicas().Desired
	var earlier int32
	for _, pod := range pods {
		ordinal, isNamed := strings.CutPrefix(pod.Name, s.Name+"-")
		if !isNamed || pod.Labels[appsv1.StatefulSetPodNameLabel] != pod.Name {
			continue // not of a StatefulSet of the name
		}
		number, err := strconv.ParseInt(ordinal, 10, 32)
		if err == nil && (int32(number) < start || int32(number) >= end) {
			earlier++
		}
	}
	return earlier
}

// minimumAvailability is the availability of workloads that have no condition of their own. It is true as long as no more pods are
// unavailable than an update may take away, and one serves. A Deployment reports the same in these words.
func minimumAvailability(workload Workload, maxUnavailable *intstr.IntOrString) reconciler.Verdict {
	replicas := workload.Replicas()
	unavailable, err := intstr.GetScaledValueFromIntOrPercent(cmp.Or(maxUnavailable, ptr.To(intstr.FromInt32(1))), int(replicas.Desired), true)
	minimum := replicas.Desired - int32(unavailable)
	if err != nil || minimum < 1 {
		minimum = min(1, replicas.Desired)
	}
	if replicas.Available >= minimum {
		return reconciler.Verdict{IsTrue: true, Reason: "MinimumReplicasAvailable", Message: workload.KindName() + " has minimum availability."}
	}
	return reconciler.Verdict{Reason: "MinimumReplicasUnavailable", Message: workload.KindName() + " does not have minimum availability."}
}

// LiveStatefulSet reads the StatefulSet from the cluster. It returns nil if the one in the cache is gone or being deleted.
func LiveStatefulSet(ctx context.Context, client kubernetes.Interface, cached *appsv1.StatefulSet) (*appsv1.StatefulSet, error) {
	live, err := timeout.Request(ctx, func(ctx context.Context) (*appsv1.StatefulSet, error) {
		return client.AppsV1().StatefulSets(cached.Namespace).Get(ctx, cached.Name, metav1.GetOptions{})
	})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading StatefulSet %s again: %w", cached.Name, err)
	case live.UID != cached.UID || live.DeletionTimestamp != nil:
		return nil, nil
	default:
		return live, nil
	}
}

// IsOfFormerRevision returns whether the StatefulSet is to replace the pod by one of another revision.
func IsOfFormerRevision(set *appsv1.StatefulSet, pod *corev1.Pod) bool {
	isUpdating := set.DeletionTimestamp == nil && set.Status.ObservedGeneration >= set.Generation && set.Status.UpdateRevision != "" &&
		set.Spec.UpdateStrategy.Type != appsv1.OnDeleteStatefulSetStrategyType && isInPartition(set, pod)
	revision := pod.Labels[appsv1.StatefulSetRevisionLabel]
	return isUpdating && metav1.IsControlledBy(pod, set) && revision != "" && revision != set.Status.UpdateRevision
}

// isInPartition returns whether an update of the StatefulSet gets to the pod: its ordinal is not less than the partition.
func isInPartition(set *appsv1.StatefulSet, pod *corev1.Pod) bool {
	rollingUpdate := set.Spec.UpdateStrategy.RollingUpdate
	if rollingUpdate == nil || ptr.Deref(rollingUpdate.Partition, 0) == 0 {
		return true
	}
	ordinal, err := strconv.ParseInt(strings.TrimPrefix(pod.Name, set.Name+"-"), 10, 32)
	return err == nil && int32(ordinal) >= *rollingUpdate.Partition
}
