// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package resizes

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/timeout"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// podsOfWorkload are the pods of a workload, as the cluster has them.
type podsOfWorkload struct {
	// pods are the pods that neither are being deleted nor have ended, in the order of their names.
	pods []*corev1.Pod
	// active are the ReplicaSets of a Deployment that are to have pods.
	active []*appsv1.ReplicaSet
}

// find reads the pods of the workload, and the ReplicaSets of a Deployment. A cache keeps no resources of pods.
func (r *Reconciler) find(ctx context.Context, box *modelv1.ModelBox, workload kinds.Workload) (podsOfWorkload, error) {
	var found podsOfWorkload
	options := metav1.ListOptions{LabelSelector: labels.SelectorFromSet(modelboxrender.Selector(box)).String()}
	controllers := []metav1.Object{workload}
	if _, isDeployment := workload.(kinds.Deployment); isDeployment {
		controllers = nil
		sets, err := timeout.Request(ctx, func(ctx context.Context) (*appsv1.ReplicaSetList, error) {
			return r.kubeClient.AppsV1().ReplicaSets(box.Namespace).List(ctx, options)
		})
		if err != nil {
			return found, fmt.Errorf("listing the ReplicaSets of the box: %w", err)
		}
		for i := range sets.Items {
			set := &sets.Items[i]
			if !metav1.IsControlledBy(set, workload) {
				continue
			}
			controllers = append(controllers, set)
			if ptr.Deref(set.Spec.Replicas, 1) > 0 {
				found.active = append(found.active, set)
			}
		}
	}
	list, err := timeout.Request(ctx, func(ctx context.Context) (*corev1.PodList, error) {
		return r.kubeClient.CoreV1().Pods(box.Namespace).List(ctx, options)
	})
	if err != nil {
		return found, fmt.Errorf("listing the pods of the box: %w", err)
	}
	for i := range list.Items {
		pod := &list.Items[i]
		isOwn := slices.ContainsFunc(controllers, func(controller metav1.Object) bool { return metav1.IsControlledBy(pod, controller) })
		if isOwn && kinds.IsActive(pod) {
			found.pods = append(found.pods, pod)
		}
	}
	return found, nil
}

// isSettled returns whether all pods that the workload is to have are there, available and of its template.
func (p *podsOfWorkload) isSettled(workload kinds.Workload) bool {
	_, isDeployment := workload.(kinds.Deployment)
	return isRolledOut(workload) && len(p.pods) == int(workload.Replicas().Desired) && (!isDeployment || len(p.active) == 1)
}
