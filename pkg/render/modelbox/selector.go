// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apilabels "k8s.io/apimachinery/pkg/labels"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// keepSelector renders the Deployment of the box with the selector of the live one, which that has for life, if it selects
// the pods that the box asks for, with what others have set among their labels. A Deployment that was adopted can have another
// selector than one that is created for a box. One that another owner controls is not kept, and neither is its selector.
func keepSelector(box *modelv1.ModelBox, rendered *unstructured.Unstructured, live *appsv1.Deployment) error {
	if controller := metav1.GetControllerOfNoCopy(live); controller != nil && controller.UID != box.UID {
		return nil
	}
	// Nearly all Deployments were created for their boxes, and are looked at all the time.
	if wanted, err := RenderedSelector(rendered); err != nil || apiequality.Semantic.DeepEqual(live.Spec.Selector, wanted) {
		return err
	}
	renderedLabels, _, err := unstructured.NestedStringMap(rendered.Object, "spec", "template", "metadata", "labels")
	if err != nil {
		return fmt.Errorf("reading the labels of the rendered pods: %w", err)
	}
	podLabels := apilabels.Set{}
	maps.Copy(podLabels, live.Spec.Template.Labels)
	maps.Copy(podLabels, renderedLabels)
	selector, err := metav1.LabelSelectorAsSelector(live.Spec.Selector)
	if err != nil {
		return fmt.Errorf("reading the selector of Deployment %s: %w", live.Name, err)
	}
	if selector.Empty() || !selector.Matches(podLabels) {
		return nil // it is in the way, which Kind.Immutable tells
	}
	kept, err := render.Fields(live.Spec.Selector)
	if err != nil {
		return err
	}
	return unstructured.SetNestedMap(rendered.Object, kept, "spec", "selector")
}

// RenderedSelector returns the selector of a rendered workload.
func RenderedSelector(rendered *unstructured.Unstructured) (*metav1.LabelSelector, error) {
	selector := &metav1.LabelSelector{}
	field, _, _ := unstructured.NestedMap(rendered.Object, "spec", "selector")
	return selector, render.FromFields(field, selector)
}

// SelectorOf returns the selector of a live workload, nil for any other object.
func SelectorOf(workload metav1.Object) *metav1.LabelSelector {
	switch workload := workload.(type) {
	case *appsv1.Deployment:
		return workload.Spec.Selector
	case *appsv1.StatefulSet:
		return workload.Spec.Selector
	case *appsv1.DaemonSet:
		return workload.Spec.Selector
	}
	return nil
}
