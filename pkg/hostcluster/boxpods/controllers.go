// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package boxpods

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

var (
	deploymentKind = appsv1.SchemeGroupVersion.WithKind("Deployment").GroupKind()
	replicaSetKind = appsv1.SchemeGroupVersion.WithKind("ReplicaSet").GroupKind()
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

// podControllers returns the controllers of the pods of the box, whose workload the box controls: the workload itself, or the
// ReplicaSets of a Deployment.
func (r *Reader) podControllers(ctx context.Context, box *modelv1.ModelBox, workload metav1.Object, selector string) (sets.Set[podController], error) {
	kind := modelboxrender.WorkloadKind(box).GroupKind()
	if kind == deploymentKind {
		return r.replicaSetsOf(ctx, workload, selector)
	}
	return sets.New(podController{kind, workload.GetName(), workload.GetUID()}), nil
}

// replicaSetsOf returns the ReplicaSets that the Deployment controls.
func (r *Reader) replicaSetsOf(ctx context.Context, deployment metav1.Object, selector string) (sets.Set[podController], error) {
	owned := sets.New[podController]()
	options := metav1.ListOptions{LabelSelector: selector, Limit: pageSize}
	for {
		page, err := r.client.AppsV1().ReplicaSets(deployment.GetNamespace()).List(ctx, options)
		if err != nil {
			return nil, fmt.Errorf("listing the ReplicaSets: %w", err)
		}
		for i := range page.Items {
			if set := &page.Items[i]; render.IsControlledBy(set, deployment, deploymentKind) {
				owned.Insert(podController{replicaSetKind, set.Name, set.UID})
			}
		}
		if options.Continue = page.Continue; options.Continue == "" {
			return owned, nil
		}
	}
}

// Selector returns the selector of the pods of a workload.
func Selector(workload metav1.Object) (string, error) {
	parsed, err := metav1.LabelSelectorAsSelector(modelboxrender.SelectorOf(workload))
	if err != nil {
		return "", fmt.Errorf("reading the selector of %T %s: %w", workload, workload.GetName(), err)
	}
	return parsed.String(), nil
}
