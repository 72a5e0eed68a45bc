// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"cmp"
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// replaceablePod returns the next pod of a DaemonSet in steps to delete, so that its node gets the new revision. It returns nil if the
// workload is another one, if the step has all of its pods, or if no further pod may be unavailable.
//
// Pods of a former candidate come first, because the new revision takes their place. Pods that are not available are replaced even
// if the step has all of its pods. Otherwise, they would keep the rollout from its next step forever.
func replaceablePod(box *modelv1.ModelBox, steps *modelboxrender.Steps, observed *status.Observation) *corev1.Pod {
	set, isDaemonSet := observed.Workload.(kinds.DaemonSet)
	if !isDaemonSet || steps.IsOver() || set.Spec.UpdateStrategy.Type != appsv1.OnDeleteDaemonSetStrategyType || !kinds.IsObserved(set) ||
		!status.AppliedVerdict(observed).IsTrue {
		return nil
	}
	nodes := nodesOf(set, box.Status.Rollout, observed)
	for _, pod := range nodes.old {
		switch {
		case !pod.isAvailable && (pod.isOfFormerCandidate || nodes.updated < steps.NewReplicas()):
			return pod.Pod
		case nodes.updated < steps.NewReplicas() && int(nodes.unavailable) < kinds.MaxUnavailable(set): // Pods that are replaced when they are deleted have no surge.
			return pod.Pod
		}
	}
	return nil
}

// daemonSetNodes is what runs on the nodes of a DaemonSet.
type daemonSetNodes struct {
	// updated is the number of nodes with a pod of the new revision, or without a pod: they will get one.
	updated int32
	// unavailable is the number of nodes without an available pod.
	unavailable int32
	// old are the pods of other revisions, in the order in which to replace them.
	old []oldPod
}

// oldPod is a pod that does not have the new revision.
type oldPod struct {
	*corev1.Pod
	isOfFormerCandidate, isAvailable bool
}

func nodesOf(set kinds.DaemonSet, rollout *modelv1.ModelBoxRolloutStatus, observed *status.Observation) daemonSetNodes {
	hashes := daemonSetHashes(set, stableName(rollout), observed.Pods)
	var nodes daemonSetNodes
	var available int32
	for _, pod := range observed.Pods {
		if pod.DeletionTimestamp != nil || !metav1.IsControlledBy(pod, set) {
			continue
		}
		isAvailable := isAvailable(pod, set.Spec.MinReadySeconds, observed.Now)
		if isAvailable {
			available++
		}
		if hash := pod.Labels[appsv1.DefaultDaemonSetUniqueLabelKey]; !isOfTemplate(pod, set) && (hash == "" || hash != hashes.Canary) {
			nodes.old = append(nodes.old, oldPod{pod, hashes.Stable != "" && hash != hashes.Stable, isAvailable})
		}
	}
	// Pods on nodes that are no longer to run one stay, and are of an old revision and available as far as is known.
	desired, misscheduled := set.Status.DesiredNumberScheduled, set.Status.NumberMisscheduled
	nodes.updated = desired - (int32(len(nodes.old)) - misscheduled)
	nodes.unavailable = max(desired-(available-misscheduled), set.Status.NumberUnavailable)
	slices.SortFunc(nodes.old, func(a, b oldPod) int {
		return cmp.Or(falseFirst(!a.isOfFormerCandidate, !b.isOfFormerCandidate), falseFirst(a.isAvailable, b.isAvailable), cmp.Compare(a.Name, b.Name))
	})
	return nodes
}

func falseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}

// isOfTemplate returns whether the DaemonSet has created the pod from its current template.
func isOfTemplate(pod *corev1.Pod, set kinds.DaemonSet) bool {
	return pod.Labels[TemplateGenerationLabel] == set.Revision()
}

// deleteReplaceablePod deletes the pod of a DaemonSet whose node gets the new revision in the step of the rollout.
func (r *Reconciler) deleteReplaceablePod(ctx context.Context, box *modelv1.ModelBox, pod *corev1.Pod) error {
	return r.deletePod(ctx, box, pod, podDeletion{
		failure: "is on a node for the new revision",
		event:   "Deleted a pod for the new revision on its node",
		log:     "Deleted pod for the new revision",
	})
}
