// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package resizes

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/timeout"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/podresources"
)

// agreeByReplicaSet gives the ReplicaSet of the pods the resources of the template, while the Deployment is paused. When the Deployment controller has
// seen that, the resize is complete: the controller takes the ReplicaSet for the newest as soon as the Deployment has the same template, and
// replaces no pod. If there are pods to resize again, the ReplicaSet gets the template of the Deployment back, and the resize continues.
// It returns the next phase, and after how long to requeue the box, 0 for not at all.
//
// While the templates of the Deployment and of its ReplicaSet differ, the status of the Deployment has no updated pods. That is how the
// controller tells what it has seen.
func (r *Reconciler) agreeByReplicaSet(ctx context.Context, resize *modelboxrender.Resize, deployment kinds.Deployment, found podsOfWorkload, isResized bool) (modelv1.ResizePhase, time.Duration, error) {
	if !deployment.Spec.Paused || !kinds.IsObserved(deployment) {
		return modelv1.ResizeHalted, 0, nil
	}
	if len(found.active) != 1 {
		return modelv1.ResizeCompleting, 0, nil // Another client has changed the Deployment, which rolls out.
	}
	set, live, hasUpdated := found.active[0], deployment.PodTemplate(), deployment.Status.UpdatedReplicas > 0
	isInSet, isAsLive := resize.IsIn(&set.Spec.Template), podresources.Equal(&set.Spec.Template.Spec, &live.Spec)
	switch {
	case isAsLive && !hasUpdated, isInSet && !isAsLive && hasUpdated:
		return modelv1.ResizeHalted, 0, nil // until the controller has seen the last change
	case isAsLive && !isResized:
		return modelv1.ResizeInProgress, 0, nil
	case isInSet && isResized:
		return modelv1.ResizeCompleting, 0, nil
	case isAsLive:
		retry, err := r.setTemplate(ctx, set, resize.Wanted)
		return modelv1.ResizeHalted, retry, err
	default:
		retry, err := r.setTemplate(ctx, set, live)
		return modelv1.ResizeHalted, retry, err
	}
}

// setTemplate gives the ReplicaSet the resources of a pod template. It leaves the pods of the ReplicaSet alone. It returns after how long to
// try again, 0 for not at all: the status of the Deployment changes when its controller has seen the change.
func (r *Reconciler) setTemplate(ctx context.Context, set *appsv1.ReplicaSet, template *corev1.PodTemplateSpec) (time.Duration, error) {
	changed := set.DeepCopy()
	podresources.Copy(&changed.Spec.Template.Spec, &template.Spec)
	_, err := timeout.Request(ctx, func(ctx context.Context) (*appsv1.ReplicaSet, error) {
		return r.kubeClient.AppsV1().ReplicaSets(set.Namespace).Update(ctx, changed, metav1.UpdateOptions{})
	})
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		return conflictRetry, nil
	case err != nil:
		return 0, fmt.Errorf("changing the resources in the template of ReplicaSet %s: %w", set.Name, err)
	}
	klog.FromContext(ctx).V(2).Info("Changed the resources in the template of a ReplicaSet", "replicaSet", klog.KObj(set))
	return 0, nil
}
