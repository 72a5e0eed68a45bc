// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apilabels "k8s.io/apimachinery/pkg/labels"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// keepSelector sets the selector of the rendered Deployment to the selector of the live Deployment, which is immutable, if it
// matches the pods of the box with the labels of other field managers. An adopted Deployment can have another selector than a
// Deployment that the controller creates. keepSelector does nothing if another owner controls the live Deployment.
func keepSelector(box *modelv1.ModelBox, rendered *unstructured.Unstructured, live *appsv1.Deployment) error {
	if controller := metav1.GetControllerOfNoCopy(live); controller != nil && controller.UID != box.UID {
		return nil
	}
	// Fast path: almost all Deployments were created for their boxes.
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
		return nil // Kind.Immutable reports the conflict
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

// SelectorOf returns the selector of the pods of a live workload, nil for any other object. The pods of a CronJob are the pods of its
// Jobs: they have the labels of the box.
func SelectorOf(workload metav1.Object) *metav1.LabelSelector {
	switch workload := workload.(type) {
	case *appsv1.Deployment:
		return workload.Spec.Selector
	case *appsv1.StatefulSet:
		return workload.Spec.Selector
	case *appsv1.DaemonSet:
		return workload.Spec.Selector
	case *batchv1.Job:
		return workload.Spec.Selector
	case *batchv1.CronJob:
		return metav1.SetAsLabelSelector(map[string]string{modelv1.SelectorLabel: workload.GetName()})
	}
	return nil
}
