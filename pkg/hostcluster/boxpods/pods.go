// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package boxpods

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// Pods returns the pods of the box, in no order: the pods that its workload controls, a Deployment through its ReplicaSets. A pod
// that only has the labels does not belong to the box. It costs a request for the workload, one for every 500 ReplicaSets of the
// box, and one for every 500 pods.
func (r *Reader) Pods(ctx context.Context, box *modelv1.ModelBox) ([]corev1.Pod, error) {
	workload, err := r.OwnWorkload(ctx, box)
	if err != nil || workload == nil {
		return nil, err
	}
	selector, err := Selector(workload)
	if err != nil {
		return nil, err
	}
	controllers, err := r.podControllers(ctx, box, workload, selector)
	if err != nil {
		return nil, err
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
