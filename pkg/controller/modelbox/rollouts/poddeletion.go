// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/timeout"
)

// podDeletion is why a pod is deleted.
type podDeletion struct {
	// failure follows the name of the pod and "which" in the error of a deletion that fails.
	failure string
	// event and log are what the event of the box and the log say. related is the related object of the event, nil for none: events
	// about several pods are not taken for an event that happened again if they are related to the pods.
	event, log string
	related    runtime.Object
}

// deletePod deletes the pod, so that its StatefulSet creates another one in its place. It does nothing if the pod has changed or is
// gone, because its StatefulSet may have been deleted meanwhile: the cache will show the change.
func (r *Reconciler) deletePod(ctx context.Context, box *modelv1.ModelBox, pod *corev1.Pod, why podDeletion) error {
	_, err := timeout.Request(ctx, func(ctx context.Context) (struct{}, error) {
		options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID, ResourceVersion: &pod.ResourceVersion}}
		return struct{}{}, r.kubeClient.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, options)
	})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("deleting pod %s, which %s: %w", pod.Name, why.failure, err)
	}
	r.Eventf(box, why.related, corev1.EventTypeNormal, "DeletedPod", "Delete", "%s", why.event)
	klog.FromContext(ctx).V(2).Info(why.log, "pod", klog.KObj(pod))
	return nil
}

// asRelated returns the pod with its kind, which lists leave out, as the related object of an event.
func asRelated(pod *corev1.Pod) *corev1.Pod {
	related := pod.DeepCopy()
	related.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
	return related
}
