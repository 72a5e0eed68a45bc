// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package boxpods

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/pager"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

var (
	deploymentKind = appsv1.SchemeGroupVersion.WithKind("Deployment").GroupKind()
	replicaSetKind = appsv1.SchemeGroupVersion.WithKind("ReplicaSet").GroupKind()
	cronJobKind    = batchv1.SchemeGroupVersion.WithKind("CronJob").GroupKind()
	jobKind        = batchv1.SchemeGroupVersion.WithKind("Job").GroupKind()
)

// podController identifies a controller of pods in the namespace of a box. A user who may create a pod may write any owner
// reference into it, so a reference counts only if it is right in every part.
type podController struct {
	schema.GroupKind
	name string
	uid  types.UID
}

// podControllerOf returns what the object names as its controller. It returns false if the object names none.
func podControllerOf(object metav1.Object) (podController, bool) {
	reference := metav1.GetControllerOfNoCopy(object)
	if reference == nil {
		return podController{}, false
	}
	groupVersion, err := schema.ParseGroupVersion(reference.APIVersion)
	if err != nil {
		return podController{}, false
	}
	return podController{schema.GroupKind{Group: groupVersion.Group, Kind: reference.Kind}, reference.Name, reference.UID}, true
}

// isControlledByOne returns whether one of the controllers controls the object.
func isControlledByOne(object metav1.Object, controllers sets.Set[podController]) bool {
	controller, ok := podControllerOf(object)
	return ok && controllers.Has(controller)
}

// podControllers returns the controllers of the pods of the box, whose workload the box controls: the workload itself, the ReplicaSets of a
// Deployment, or the Jobs of a CronJob.
func (r *Reader) podControllers(ctx context.Context, box *modelv1.ModelBox, workload metav1.Object, selector string) (sets.Set[podController], error) {
	switch kind := modelboxrender.WorkloadKind(box).GroupKind(); kind {
	case deploymentKind:
		return controlledBy(ctx, workload, deploymentKind, replicaSetKind, selector, func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return r.client.AppsV1().ReplicaSets(workload.GetNamespace()).List(ctx, options)
		})
	case cronJobKind:
		return controlledBy(ctx, workload, cronJobKind, jobKind, selector, func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return r.client.BatchV1().Jobs(workload.GetNamespace()).List(ctx, options)
		})
	default:
		return sets.New(podController{kind, workload.GetName(), workload.GetUID()}), nil
	}
}

// controlledBy returns the objects of a kind that the workload controls, as controllers of pods.
func controlledBy(ctx context.Context, workload metav1.Object, workloadKind, kind schema.GroupKind, selector string, list pager.ListPageFunc) (sets.Set[podController], error) {
	owned := sets.New[podController]()
	pages := pager.New(list)
	pages.PageSize = pageSize
	err := pages.EachListItem(ctx, metav1.ListOptions{LabelSelector: selector}, func(object runtime.Object) error {
		if child, err := meta.Accessor(object); err == nil && render.IsControlledBy(child, workload, workloadKind) {
			owned.Insert(podController{kind, child.GetName(), child.GetUID()})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing the %ss: %w", kind.Kind, err)
	}
	return owned, nil
}

// Selector returns the selector of the pods of a workload.
func Selector(workload metav1.Object) (string, error) {
	parsed, err := metav1.LabelSelectorAsSelector(modelboxrender.SelectorOf(workload))
	if err != nil {
		return "", fmt.Errorf("reading the selector of %T %s: %w", workload, workload.GetName(), err)
	}
	return parsed.String(), nil
}
