// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/adopt"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// renderedChildren are what the server makes of a box, as far as an operator can have made the same.
type renderedChildren struct {
	deployment *appsv1.Deployment
	// service is nil for a box without ports.
	service *corev1.Service
}

// renderChildren returns what the server makes of a box that has its defaults, without what the API sets.
func renderChildren(box *modelv1.ModelBox) (*renderedChildren, error) {
	rendered, err := modelboxrender.Children(box, modelboxrender.ScaledByBox)
	if err != nil {
		return nil, err
	}
	children := &renderedChildren{}
	for _, object := range rendered {
		switch object.GroupVersionKind() {
		case deploymentKind:
			children.deployment = &appsv1.Deployment{}
			err = runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, children.deployment)
		case serviceKind:
			children.service = &corev1.Service{}
			err = runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, children.service)
		}
		if err != nil {
			return nil, fmt.Errorf("reading the rendered %s: %w", object.GetKind(), err)
		}
	}
	return children, nil
}

// judgeChildren says what becomes of what an operator has made of a box.
func (f *findings) judgeChildren(ctx context.Context, c *clients, exported *exportedBox, box *modelv1.ModelBox) error {
	rendered, err := renderChildren(box)
	if err != nil {
		return err
	}
	for _, child := range exported.children {
		f.judgeOwners(exported, child)
		f.judgeKind(exported, child)
	}
	deployment, err := exported.deployment()
	if err != nil {
		return err
	}
	if deployment == nil {
		f.add(note, "", "has no Deployment with its name: the server creates one")
	}
	if err := f.judgeNames(ctx, c, exported, rendered); err != nil {
		return err
	}
	if deployment == nil {
		return f.judgeService(exported, rendered.service)
	}
	if err := f.judgeDeployment(ctx, c, deployment, rendered.deployment); err != nil {
		return err
	}
	return f.judgeService(exported, rendered.service)
}

// judgeNames finds what has the name of a child without belonging to the box, and which the server would take over with the rest.
func (f *findings) judgeNames(ctx context.Context, c *clients, exported *exportedBox, rendered *renderedChildren) error {
	if exported.child(deploymentKind) == nil {
		_, err := c.cluster.AppsV1().Deployments(exported.Namespace).Get(ctx, exported.Name, metav1.GetOptions{})
		if err := f.judgeName("Deployment", exported.Name, err); err != nil {
			return err
		}
	}
	if rendered.service != nil && exported.child(serviceKind) == nil {
		_, err := c.cluster.CoreV1().Services(exported.Namespace).Get(ctx, exported.Name, metav1.GetOptions{})
		return f.judgeName("Service", exported.Name, err)
	}
	return nil
}

// judgeName gets the result of the search for the object.
func (f *findings) judgeName(kind, name string, err error) error {
	switch {
	case err == nil:
		f.add(refused, "", "%s %s exists and does not belong to the box", kind, name)
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("getting %s %s: %w", kind, name, err)
	}
	return nil
}

// judgeKind is about children that the server does not take over.
func (f *findings) judgeKind(exported *exportedBox, child *unstructured.Unstructured) {
	kind := child.GroupVersionKind()
	switch {
	case kind.Group == appsv1.GroupName && (kind != deploymentKind || child.GetName() != exported.Name):
		f.add(refused, "", "%s %s runs pods and is not Deployment %s: the server would start more pods", child.GetKind(), child.GetName(), exported.Name)
	case kind == deploymentKind, kind == serviceKind && child.GetName() == exported.Name:
	default:
		f.add(note, "", "its %s is not changed, and is deleted with the box", child.GetKind())
	}
}

func (f *findings) judgeDeployment(ctx context.Context, c *clients, live, rendered *appsv1.Deployment) error {
	if !adopt.IsRolledOut(live) {
		f.add(refused, "", "Deployment %s is being rolled out: wait until the rollout is complete", live.Name)
	}
	selector, err := metav1.LabelSelectorAsSelector(live.Spec.Selector)
	if err != nil {
		return fmt.Errorf("reading the selector of Deployment %s: %w", live.Name, err)
	}
	podLabels := adopt.Merged(live.Spec.Template.Labels, rendered.Spec.Template.Labels)
	if !selector.Matches(labels.Set(podLabels)) {
		f.add(refused, "", "Deployment %s has the selector %q, which does not select the pods of the box", live.Name, selector)
		return nil
	}
	wanted := rendered.DeepCopy()
	wanted.Spec.Selector, wanted.Spec.Template.Labels = live.Spec.Selector, podLabels
	if wanted, err = adopt.WithDefaults(ctx, c.cluster, fieldManager, wanted); err != nil {
		return err
	}
	change, err := adopt.CompareTemplates(&live.Spec.Template, &wanted.Spec.Template)
	if err != nil {
		return err
	}
	for _, field := range change.Disruptive {
		f.add(disruptive, field, "of the Deployment changes to the value of the box: its pods must be replaced")
	}
	for _, field := range change.Deferred {
		f.add(note, field, "of the Deployment changes: new pods get the new value")
	}
	if live.Spec.Replicas != nil && *live.Spec.Replicas != *wanted.Spec.Replicas {
		f.add(disruptive, "spec.replicas", "of the Deployment changes from %d to %d, unless an autoscaler sets it", *live.Spec.Replicas, *wanted.Spec.Replicas)
	}
	f.judgeRollouts(live, wanted)
	return nil
}

// judgeRollouts says how rollouts will differ.
func (f *findings) judgeRollouts(live, wanted *appsv1.Deployment) {
	for _, field := range []struct {
		name     string
		from, to any
	}{
		{"spec.minReadySeconds", live.Spec.MinReadySeconds, wanted.Spec.MinReadySeconds},
		{"spec.strategy", live.Spec.Strategy, wanted.Spec.Strategy},
		{"spec.revisionHistoryLimit", live.Spec.RevisionHistoryLimit, wanted.Spec.RevisionHistoryLimit},
		{"spec.progressDeadlineSeconds", live.Spec.ProgressDeadlineSeconds, wanted.Spec.ProgressDeadlineSeconds},
	} {
		if from, to := compact(field.from), compact(field.to); from != to {
			f.add(changed, field.name, "of the Deployment changes to %s", to)
		}
	}
}

func (f *findings) judgeService(exported *exportedBox, rendered *corev1.Service) error {
	child := exported.child(serviceKind)
	if child == nil || rendered == nil {
		return nil
	}
	live := &corev1.Service{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(child.Object, live); err != nil {
		return fmt.Errorf("reading Service %s: %w", exported, err)
	}
	if (live.Spec.ClusterIP == corev1.ClusterIPNone) != (rendered.Spec.ClusterIP == corev1.ClusterIPNone) {
		f.add(refused, "spec.serviceType", "Service %s has the clusterIP %q, which cannot be changed", live.Name, live.Spec.ClusterIP)
	}
	if live.Spec.Type != rendered.Spec.Type {
		f.add(disruptive, "spec.serviceType", "the type of Service %s changes from %s to %s", live.Name, live.Spec.Type, rendered.Spec.Type)
	}
	return nil
}
