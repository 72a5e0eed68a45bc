// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package boxchildren

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

const (
	// maxRevisions is how many of a box are returned. A workload keeps 10 by default.
	maxRevisions = 50
	// revisionPageSize is how many are read with one request. Each may be an object of 1.5 MiB in etcd, and ten times as much in
	// memory.
	revisionPageSize = 5

	// revisionAnnotation of a ReplicaSet is the number of its revision.
	revisionAnnotation = "deployment.kubernetes.io/revision"
)

// Revisions returns the newest 50 revisions that the cluster has of the workload of the box, the oldest first. It returns none if
// the workload does not exist, does not belong to the box, or is a Job or a CronJob, which have no revisions. It sends a request for the workload, and one for every 5 revisions.
func (r *Reader) Revisions(ctx context.Context, box *modelv1.ModelBox) ([]modelboxrender.Revision, error) {
	workload, err := r.OwnWorkload(ctx, box)
	if err != nil || workload == nil {
		return nil, err
	}
	switch workload := workload.(type) {
	case *appsv1.Deployment:
		return r.replicaSets(ctx, workload)
	case *appsv1.StatefulSet:
		return r.controllerRevisions(ctx, workload, workload.Spec.Selector)
	case *appsv1.DaemonSet:
		return r.controllerRevisions(ctx, workload, workload.Spec.Selector)
	case *batchv1.Job, *batchv1.CronJob:
		return nil, nil
	}
	return nil, fmt.Errorf("a %T has no revisions", workload)
}

func (r *Reader) replicaSets(ctx context.Context, deployment *appsv1.Deployment) ([]modelboxrender.Revision, error) {
	sets := r.client.AppsV1().ReplicaSets(deployment.Namespace)
	return collect(deployment, deployment.Spec.Selector, func(options metav1.ListOptions) (*metav1.ListMeta, []modelboxrender.Revision, error) {
		page, err := sets.List(ctx, options)
		if err != nil {
			return nil, nil, fmt.Errorf("listing the ReplicaSets of Deployment %s: %w", deployment.Name, err)
		}
		var revisions []modelboxrender.Revision
		for _, set := range page.Items {
			// The Deployment controller numbers a new one in a moment.
			if number, err := strconv.ParseInt(set.Annotations[revisionAnnotation], 10, 64); err == nil && number > 0 {
				revisions = append(revisions, modelboxrender.Revision{ObjectMeta: set.ObjectMeta, Number: number, Images: imagesOf(&set.Spec.Template)})
			}
		}
		return &page.ListMeta, revisions, nil
	})
}

func (r *Reader) controllerRevisions(ctx context.Context, workload metav1.Object, selector *metav1.LabelSelector) ([]modelboxrender.Revision, error) {
	histories := r.client.AppsV1().ControllerRevisions(workload.GetNamespace())
	return collect(workload, selector, func(options metav1.ListOptions) (*metav1.ListMeta, []modelboxrender.Revision, error) {
		page, err := histories.List(ctx, options)
		if err != nil {
			return nil, nil, fmt.Errorf("listing the ControllerRevisions of %s: %w", workload.GetName(), err)
		}
		var revisions []modelboxrender.Revision
		for _, history := range page.Items {
			var patch workloadPatch
			if err := json.Unmarshal(history.Data.Raw, &patch); err != nil {
				return nil, nil, fmt.Errorf("reading ControllerRevision %s: %w", history.Name, err)
			}
			revisions = append(revisions, modelboxrender.Revision{ObjectMeta: history.ObjectMeta, Number: history.Revision, Images: patch.images()})
		}
		return &page.ListMeta, revisions, nil
	})
}

// workloadPatch is what a ControllerRevision has: a patch of the workload, which replaces the pod template. Users can write
// one of 1.5 MiB, so no more of it is decoded than is needed.
type workloadPatch struct {
	Spec struct {
		Template struct {
			Spec struct {
				Containers []struct{ Image string }
			}
		}
	}
}

func (p *workloadPatch) images() []string {
	containers := p.Spec.Template.Spec.Containers
	images := make([]string, len(containers))
	for i := range containers {
		images[i] = containers[i].Image
	}
	return images
}

// collect reads all revisions of the workload page by page, and keeps no more than there may be.
func collect(workload metav1.Object, selector *metav1.LabelSelector, list func(metav1.ListOptions) (*metav1.ListMeta, []modelboxrender.Revision, error)) ([]modelboxrender.Revision, error) {
	selected, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return nil, fmt.Errorf("reading the selector of %s: %w", workload.GetName(), err)
	}
	options := metav1.ListOptions{LabelSelector: selected.String(), Limit: revisionPageSize}
	var revisions []modelboxrender.Revision
	for {
		page, found, err := list(options)
		if err != nil {
			return nil, err
		}
		for _, revision := range found {
			if metav1.IsControlledBy(&revision, workload) {
				revisions = append(revisions, revision)
			}
		}
		slices.SortFunc(revisions, func(a, b modelboxrender.Revision) int { return cmp.Compare(a.Number, b.Number) })
		revisions = slices.Clone(revisions[max(0, len(revisions)-maxRevisions):])
		if options.Continue = page.Continue; options.Continue == "" {
			return revisions, nil
		}
	}
}

func imagesOf(template *corev1.PodTemplateSpec) []string {
	images := make([]string, len(template.Spec.Containers))
	for i := range template.Spec.Containers {
		images[i] = template.Spec.Containers[i].Image
	}
	return images
}
