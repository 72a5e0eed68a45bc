// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/timeout"
)

// deletePod deletes the pod, so that its StatefulSet creates another one in its place. It returns false if no pod meets the
// preconditions now: the cache will show which pods there are instead.
func (c *Controller) deletePod(ctx context.Context, pod *corev1.Pod, preconditions metav1.Preconditions) (bool, error) {
	_, err := timeout.Request(ctx, func(ctx context.Context) (struct{}, error) {
		options := metav1.DeleteOptions{Preconditions: &preconditions}
		return struct{}{}, c.kubeClient.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, options)
	})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return false, nil
	}
	return err == nil, err
}
