// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package boxchildren

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// Pods returns the pods of the box, in no order: those that its workload controls, a Deployment through its ReplicaSets. A pod
// that has nothing but the labels is somebody else's. It costs a request for the workload, one for every 500 ReplicaSets of the
// box, and one for every 500 pods.
func (r *Reader) Pods(ctx context.Context, box *modelv1.ModelBox) ([]corev1.Pod, error) {
	workload, err := r.workload(ctx, box)
	if err != nil || workload == nil || !metav1.IsControlledBy(workload, box) {
		return nil, err
	}
	selector, err := podSelector(workload)
	if err != nil {
		return nil, err
	}
	controllers := sets.New(workload.GetUID())
	if _, isDeployment := workload.(*appsv1.Deployment); isDeployment {
		if controllers, err = r.replicaSetUIDs(ctx, workload, selector); err != nil {
			return nil, err
		}
	}
	var pods []corev1.Pod
	options := metav1.ListOptions{LabelSelector: selector, Limit: pageSize}
	for {
		page, err := r.client.CoreV1().Pods(box.Namespace).List(ctx, options)
		if err != nil {
			return nil, fmt.Errorf("listing the pods: %w", err)
		}
		for i := range page.Items {
			if isControlledByOne(&page.Items[i], controllers) {
				pods = append(pods, page.Items[i])
			}
		}
		if options.Continue = page.Continue; options.Continue == "" {
			return pods, nil
		}
	}
}

// replicaSetUIDs returns those of the ReplicaSets of a Deployment.
func (r *Reader) replicaSetUIDs(ctx context.Context, deployment metav1.Object, selector string) (sets.Set[types.UID], error) {
	owned := sets.New[types.UID]()
	options := metav1.ListOptions{LabelSelector: selector, Limit: pageSize}
	for {
		page, err := r.client.AppsV1().ReplicaSets(deployment.GetNamespace()).List(ctx, options)
		if err != nil {
			return nil, fmt.Errorf("listing the ReplicaSets: %w", err)
		}
		for i := range page.Items {
			if metav1.IsControlledBy(&page.Items[i], deployment) {
				owned.Insert(page.Items[i].UID)
			}
		}
		if options.Continue = page.Continue; options.Continue == "" {
			return owned, nil
		}
	}
}

func isControlledByOne(object metav1.Object, controllers sets.Set[types.UID]) bool {
	controller := metav1.GetControllerOfNoCopy(object)
	return controller != nil && controllers.Has(controller.UID)
}

// podSelector returns the selector of the pods of a workload.
func podSelector(workload metav1.Object) (string, error) {
	parsed, err := metav1.LabelSelectorAsSelector(modelboxrender.SelectorOf(workload))
	if err != nil {
		return "", fmt.Errorf("reading the selector of %T %s: %w", workload, workload.GetName(), err)
	}
	return parsed.String(), nil
}
