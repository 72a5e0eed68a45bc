// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"context"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/promquery"
)

// hashesOf returns the labels of the stable pods and of the pods of the new revision that tell them apart, as far as they are known.
func (r *Reconciler) hashesOf(ctx context.Context, box *modelv1.ModelBox, observed *status.Observation) (promquery.Hashes, error) {
	stable := stableName(box.Status.Rollout)
	switch workload := observed.Workload.(type) {
	case kinds.StatefulSet:
		return statefulSetHashes(workload, stable), nil
	case kinds.Deployment:
		candidate, isDeployment := observed.Candidate.(kinds.Deployment)
		if !isDeployment {
			return promquery.Hashes{}, nil
		}
		ofStable, err := r.newReplicaSetOf(ctx, box, workload)
		if err != nil {
			return promquery.Hashes{}, err
		}
		ofCandidate, err := r.newReplicaSetOf(ctx, box, candidate)
		return promquery.Hashes{Stable: ofStable.hash, Canary: ofCandidate.hash}, err
	case kinds.DaemonSet:
		return daemonSetHashes(workload, stable, observed.Pods), nil
	default:
		return promquery.Hashes{}, nil
	}
}

// stableName returns the name of the stable revision, "" if it is not known.
func stableName(rollout *modelv1.ModelBoxRolloutStatus) string {
	if rollout == nil || rollout.Stable == nil {
		return ""
	}
	return rollout.Stable.Name
}

// statefulSetHashes returns the label controller-revision-hash of the stable pods and of the new pods, as far as they are known. The
// StatefulSet no longer has the stable revision in its status when all pods are new, or after it was replaced.
func statefulSetHashes(set kinds.StatefulSet, stable string) promquery.Hashes {
	if stable == "" && set.Status.CurrentRevision != set.Status.UpdateRevision {
		stable = set.Status.CurrentRevision
	}
	return promquery.Hashes{Stable: stable, Canary: set.Status.UpdateRevision}
}

// daemonSetHashes returns the label controller-revision-hash of the stable pods and of the pods with the current template, as far as
// they are known.
func daemonSetHashes(set kinds.DaemonSet, stable string, pods []*corev1.Pod) promquery.Hashes {
	hashes := promquery.Hashes{Stable: strings.TrimPrefix(stable, set.Name+"-")}
	var oldest *corev1.Pod
	for _, pod := range pods {
		switch {
		case !metav1.IsControlledBy(pod, set):
		case isOfTemplate(pod, set):
			hashes.Canary = pod.Labels[appsv1.DefaultDaemonSetUniqueLabelKey]
		case oldest == nil || pod.CreationTimestamp.Before(&oldest.CreationTimestamp):
			oldest = pod
		}
	}
	if hashes.Stable == "" && oldest != nil { // All pods since the rollout began have later templates.
		hashes.Stable = oldest.Labels[appsv1.DefaultDaemonSetUniqueLabelKey]
	}
	return hashes
}
