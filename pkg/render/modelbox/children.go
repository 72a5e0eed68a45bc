// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package modelbox renders the children of boxes, such as workloads and Services. The workload has the record of its box.
package modelbox

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// Scaling determines the number of pods of a box.
type Scaling struct {
	// Autoscaled is the number of pods that an autoscaler has set on the workload. It is nil if spec.replicas of the box is the
	// number.
	Autoscaled *int32
}

// ScaledByBox sets the number of pods to spec.replicas of the box.
var ScaledByBox = Scaling{}

// ScaledByAutoscaler keeps the number of pods that an autoscaler has set.
func ScaledByAutoscaler(replicas int32) Scaling { return Scaling{Autoscaled: &replicas} }

// Children returns the children of the box, with exactly the fields that the box sets, for server-side apply. The workload is the
// first. Each child has modelv1.RenderHashAnnotation, and a controller owner reference to the box unless it is a retained claim.
// The workload also has the record of the box, unless the record is too large. The box must be defaulted and valid.
func Children(box *modelv1.ModelBox, scaling Scaling) ([]*unstructured.Unstructured, error) {
	return childrenOf(box, scaling, rolloutPlan{box: box})
}

// childrenOf returns the Children of the box of the plan, with the record of the box that the plan was made for.
func childrenOf(recorded *modelv1.ModelBox, scaling Scaling, plan rolloutPlan) ([]*unstructured.Unstructured, error) {
	box := plan.box
	workload, err := workload(box, scaling)
	if err != nil {
		return nil, fmt.Errorf("rendering the %s: %w", box.Spec.Workload, err)
	}
	plan.annotateWorkload(workload)
	if err := plan.resize.apply(workload); err != nil {
		return nil, fmt.Errorf("keeping the resources of the %s: %w", box.Spec.Workload, err)
	}
	configurations := []runtime.ApplyConfiguration{workload}
	if len(box.Spec.Ports) > 0 {
		configurations = append(configurations, service(box, plan.serviceTraffic()))
	}
	if HasHeadlessService(box) {
		configurations = append(configurations, headlessService(box))
	}
	for i := range box.Spec.Configs {
		configurations = append(configurations, configMap(box, &box.Spec.Configs[i]))
	}
	// Render all claims of the box, even if the pods of a stable revision do not use them.
	for _, claim := range claims(recorded) {
		configurations = append(configurations, claim)
	}
	if box.Spec.Ingress != nil {
		configurations = append(configurations, ingress(box))
	}
	if box.Spec.Route != nil {
		configurations = append(configurations, httpRoute(box, plan.candidateWeight()))
	}
	if box.Spec.GRPCRoute != nil {
		configurations = append(configurations, grpcRoute(box, plan.candidateWeight()))
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
	if box.Spec.NetworkPolicy != nil {
		policies, err := networkPolicies(box)
		if err != nil {
			return nil, fmt.Errorf("rendering the NetworkPolicy: %w", err)
		}
		configurations = append(configurations, policies...)
	}
	if plan.steps != nil && plan.steps.StartsCandidate() {
		candidate, err := candidate(plan.steps, plan.isHalted)
		if err != nil {
			return nil, err
		}
		configurations = append(configurations, candidate...)
	}

	if plan.awaitsBefore {
		configurations = append(configurations, jobConfigMaps(recorded, box)...)
	}

	children := make([]*unstructured.Unstructured, 0, len(configurations))
	for _, configuration := range configurations {
		child, err := render.WithHash(configuration)
		if err != nil {
			return nil, err
		}
		children = append(children, child)
	}
	// The record is not part of the hash: a change of only the metadata of the box does not change the render.
	record, err := recordBeside(recorded, plan.annotations)
	switch {
	case err == nil:
		render.Annotate(children[0], modelv1.RecordAnnotation, record)
	case !errors.Is(err, render.ErrRecordTooLarge):
		return nil, err
	}
	return children, nil
}
