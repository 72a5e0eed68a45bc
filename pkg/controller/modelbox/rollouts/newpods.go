// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/timeout"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// TemplateGenerationLabel is where the pods of a DaemonSet have what its annotation appsv1.DeprecatedTemplateGeneration counts.
const TemplateGenerationLabel = "pod-template-generation"

// newReplicaSet is the ReplicaSet with the newest pods of a Deployment. It is remembered once it was looked up.
type newReplicaSet struct {
	rollout rolloutID
	uid     types.UID
	// hash is the label pod-template-hash of its pods.
	hash string
}

// isNewPod returns whether the pod is of the revision that the workload brings to its pods. Whether one of a Deployment is, only
// its ReplicaSets tell.
func (r *Reconciler) isNewPod(ctx context.Context, box *modelv1.ModelBox, workload kinds.Workload, pod *corev1.Pod) (bool, error) {
	switch workload := workload.(type) {
	case kinds.StatefulSet:
		return metav1.IsControlledBy(pod, workload) && workload.Status.ObservedGeneration >= workload.Generation &&
			pod.Labels[appsv1.StatefulSetRevisionLabel] == workload.Status.UpdateRevision, nil
	case kinds.DaemonSet:
		return metav1.IsControlledBy(pod, workload) && pod.Labels[TemplateGenerationLabel] == workload.Revision(), nil
	case kinds.Deployment:
		if workload.Status.ObservedGeneration < workload.Generation {
			return false, nil
		}
		newest, err := r.newReplicaSetOf(ctx, box, workload)
		controller := metav1.GetControllerOfNoCopy(pod)
		return err == nil && newest.uid != "" && controller != nil && controller.UID == newest.uid, err
	default:
		return false, nil
	}
}

// newReplicaSetOf returns the ReplicaSet with the revision of the Deployment, which is the Deployment of the box or its candidate.
// It returns an empty ReplicaSet if there is none.
func (r *Reconciler) newReplicaSetOf(ctx context.Context, box *modelv1.ModelBox, deployment kinds.Deployment) (newReplicaSet, error) {
	memory := r.newReplicaSets
	if deployment.Name != box.Name {
		memory = r.candidateReplicaSets
	}
	rollout := rolloutOf(deployment)
	if known, isKnown := memory.Get(apply.KeyOf(box)); isKnown && known.rollout == rollout {
		return known, nil
	}
	list, err := timeout.Request(ctx, func(ctx context.Context) (*appsv1.ReplicaSetList, error) {
		selector := labels.SelectorFromSet(modelboxrender.Selector(box)).String()
		return r.kubeClient.AppsV1().ReplicaSets(box.Namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
	})
	if err != nil {
		return newReplicaSet{}, fmt.Errorf("listing the ReplicaSets of the box: %w", err)
	}
	i := slices.IndexFunc(list.Items, func(set appsv1.ReplicaSet) bool {
		return metav1.IsControlledBy(&set, deployment) && set.Annotations[kinds.DeploymentRevision] == rollout.revision
	})
	if i < 0 {
		return newReplicaSet{}, nil
	}
	newest := newReplicaSet{rollout, list.Items[i].UID, list.Items[i].Labels[appsv1.DefaultDeploymentUniqueLabelKey]}
	memory.Set(apply.KeyOf(box), newest)
	return newest, nil
}

// revisionName returns the name of the ReplicaSet or ControllerRevision that the pod is of, empty where its labels do not tell.
func revisionName(workload kinds.Workload, pod *corev1.Pod) string {
	switch workload.(type) {
	case kinds.StatefulSet:
		return pod.Labels[appsv1.StatefulSetRevisionLabel]
	case kinds.DaemonSet:
		return nameWithHash(workload, pod.Labels[appsv1.DefaultDaemonSetUniqueLabelKey])
	default:
		return nameWithHash(workload, pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey])
	}
}

func nameWithHash(workload kinds.Workload, hash string) string {
	if hash == "" {
		return ""
	}
	return workload.GetName() + "-" + hash
}
