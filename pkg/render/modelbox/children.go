// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package modelbox renders boxes: their workloads, Services and what else they ask for, and the record of the box that the workload carries.
package modelbox

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// Scaling says who decides the number of pods of a box.
type Scaling struct {
	// Autoscaled is the number of pods that the workload has from an autoscaler and keeps; nil where spec.replicas of
	// the box is the number.
	Autoscaled *int32
}

// ScaledByBox is a number of pods that is spec.replicas of the box.
var ScaledByBox = Scaling{}

// ScaledByAutoscaler is a number of pods that is left alone.
func ScaledByAutoscaler(replicas int32) Scaling { return Scaling{Autoscaled: &replicas} }

// Children returns the objects that the box asks for: exactly the fields that the box decides, in the form that
// server-side apply takes. Each carries modelv1.RenderHashAnnotation and, unless it is a claim that is retained, a controller
// owner reference to the box, and the workload, which comes first, the record of the box unless that is too large. The box
// has to be defaulted and valid.
func Children(box *modelv1.ModelBox, scaling Scaling) ([]*unstructured.Unstructured, error) {
	return childrenOf(box, scaling, rolloutPlan{box: box})
}

// childrenOf returns Children of the box of the plan, with the record of the box that was planned for.
func childrenOf(recorded *modelv1.ModelBox, scaling Scaling, plan rolloutPlan) ([]*unstructured.Unstructured, error) {
	box := plan.box
	workload, err := workload(box, scaling)
	if err != nil {
		return nil, fmt.Errorf("rendering the %s: %w", box.Spec.Workload, err)
	}
	plan.annotateWorkload(workload)
	configurations := []runtime.ApplyConfiguration{workload}
	if len(box.Spec.Ports) > 0 {
		configurations = append(configurations, service(box))
	}
	if HasHeadlessService(box) {
		configurations = append(configurations, headlessService(box))
	}
	for i := range box.Spec.Configs {
		configurations = append(configurations, configMap(box, &box.Spec.Configs[i]))
	}
	// Claims are there as the box says, whether its pods have them or not.
	for _, claim := range claims(recorded) {
		configurations = append(configurations, claim)
	}
	if box.Spec.Ingress != nil {
		configurations = append(configurations, ingress(box))
	}
	if box.Spec.Route != nil {
		configurations = append(configurations, httpRoute(box))
	}
	if box.Spec.Autoscaling != nil {
		autoscaler, err := autoscaler(box)
		if err != nil {
			return nil, fmt.Errorf("rendering the HorizontalPodAutoscaler: %w", err)
		}
		configurations = append(configurations, autoscaler)
	}
	if box.Spec.DisruptionBudget != nil {
		configurations = append(configurations, disruptionBudget(box))
	}

	children := make([]*unstructured.Unstructured, 0, len(configurations))
	for _, configuration := range configurations {
		child, err := render.WithHash(configuration)
		if err != nil {
			return nil, err
		}
		children = append(children, child)
	}
	// The record is no part of the hash: a box of which nothing but its metadata changes asks for nothing else.
	record, err := recordBeside(recorded, plan.annotations)
	switch {
	case err == nil:
		render.Annotate(children[0], modelv1.RecordAnnotation, record)
	case !errors.Is(err, render.ErrRecordTooLarge):
		return nil, err
	}
	return children, nil
}
