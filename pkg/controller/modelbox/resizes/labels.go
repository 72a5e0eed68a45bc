// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package resizes

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/rollouts"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/timeout"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// agreeByLabels gives the pods of a StatefulSet or a DaemonSet the labels of its current revision, while it is halted. Its controller goes
// by these labels, and counts the pods as updated when it has seen that. If there are pods to resize again, the resize continues.
func (r *Reconciler) agreeByLabels(ctx context.Context, box *modelv1.ModelBox, workload kinds.Workload, found podsOfWorkload, isResized bool) (modelv1.ResizePhase, time.Duration, error) {
	if !isHalted(workload) {
		return modelv1.ResizeHalted, 0, nil
	}
	wanted, err := r.revisionLabels(ctx, box, workload)
	if err != nil || wanted == nil {
		return modelv1.ResizeHalted, 0, err
	}
	var retry time.Duration
	isLabeled := true
	for _, pod := range found.pods {
		if labels.SelectorFromSet(wanted).Matches(labels.Set(pod.Labels)) {
			continue
		}
		isLabeled = false
		if err := r.label(ctx, pod, wanted); apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
			retry = conflictRetry
		} else if err != nil {
			return modelv1.ResizeHalted, 0, fmt.Errorf("labeling pod %s with its revision: %w", pod.Name, err)
		}
	}
	switch replicas := workload.Replicas(); {
	case !isLabeled || replicas.Updated < replicas.Desired:
		return modelv1.ResizeHalted, retry, nil
	case isResized:
		return modelv1.ResizeCompleting, 0, nil
	default:
		return modelv1.ResizeInProgress, 0, nil
	}
}

// isHalted returns whether the controller of the workload has seen that it updates no pod.
func isHalted(workload kinds.Workload) bool {
	switch workload := workload.(type) {
	case kinds.StatefulSet:
		rollingUpdate := workload.Spec.UpdateStrategy.RollingUpdate
		return kinds.IsObserved(workload) && rollingUpdate != nil && ptr.Deref(rollingUpdate.Partition, 0) == modelboxrender.HaltedPartition
	case kinds.DaemonSet:
		return kinds.IsObserved(workload) && workload.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType
	default:
		return false
	}
}

// revisionLabels returns the labels of pods of the current revision of the workload, nil if they are not known yet.
func (r *Reconciler) revisionLabels(ctx context.Context, box *modelv1.ModelBox, workload kinds.Workload) (map[string]string, error) {
	switch workload := workload.(type) {
	case kinds.StatefulSet:
		if workload.Status.UpdateRevision == "" {
			return nil, nil
		}
		return map[string]string{appsv1.StatefulSetRevisionLabel: workload.Status.UpdateRevision}, nil
	case kinds.DaemonSet:
		list, err := timeout.Request(ctx, func(ctx context.Context) (*appsv1.ControllerRevisionList, error) {
			options := metav1.ListOptions{LabelSelector: labels.SelectorFromSet(modelboxrender.Selector(box)).String()}
			return r.kubeClient.AppsV1().ControllerRevisions(box.Namespace).List(ctx, options)
		})
		if err != nil {
			return nil, fmt.Errorf("listing the revisions of the box: %w", err)
		}
		own := slices.DeleteFunc(list.Items, func(revision appsv1.ControllerRevision) bool { return !metav1.IsControlledBy(&revision, workload) })
		if len(own) == 0 {
			return nil, nil
		}
		newest := slices.MaxFunc(own, func(a, b appsv1.ControllerRevision) int { return cmp.Compare(a.Revision, b.Revision) })
		return map[string]string{
			appsv1.DefaultDaemonSetUniqueLabelKey: newest.Labels[appsv1.DefaultDaemonSetUniqueLabelKey],
			rollouts.TemplateGenerationLabel:      workload.Annotations[appsv1.DeprecatedTemplateGeneration],
		}, nil
	default:
		return nil, nil
	}
}

// label gives the pod the labels if it has not changed.
func (r *Reconciler) label(ctx context.Context, pod *corev1.Pod, wanted map[string]string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": pod.UID, "resourceVersion": pod.ResourceVersion, "labels": wanted}})
	if err != nil {
		return err
	}
	if _, err := timeout.Request(ctx, func(ctx context.Context) (*corev1.Pod, error) {
		return r.kubeClient.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	}); err != nil {
		return err
	}
	klog.FromContext(ctx).V(2).Info("Labeled pod with its revision", "pod", klog.KObj(pod), "labels", wanted)
	return nil
}
