// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package argorollouts is the peer of rollouts in steps: Argo Rollouts, whose Rollouts take the place of Deployments.
package argorollouts

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Name is the name of the contestant.
const Name = "Argo Rollouts"

// Resource is the resource of Rollouts.
var Resource = schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "rollouts"}

// AbortPatch is the merge patch of the status with which the command line of Argo Rollouts aborts a rollout.
const AbortPatch = `{"status":{"abort":true}}`

// Step is a step of a canary.
type Step struct {
	// Weight is the percentage of the traffic that the new revision gets.
	Weight int32
	// Pause is a duration, or empty to wait for a user.
	Pause string
}

// Settings are the settings of a Rollout for which a Deployment has no field, or which the two treat differently.
type Settings struct {
	Steps                   []Step
	ProgressDeadlineSeconds int32
	// MaxUnavailable is the number of pods that the rollout may lack. Nil is the default of Argo Rollouts, 25 %.
	MaxUnavailable *intstr.IntOrString
}

// New returns the Rollout that has the pods of a Deployment. A rollout that makes no progress is aborted.
func New(deployment *appsv1.Deployment, settings Settings) (*unstructured.Unstructured, error) {
	spec := &deployment.Spec
	template, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&spec.Template)
	if err != nil {
		return nil, fmt.Errorf("converting the pods of a Deployment: %w", err)
	}
	selector, err := runtime.DefaultUnstructuredConverter.ToUnstructured(spec.Selector)
	if err != nil {
		return nil, fmt.Errorf("converting the selector of a Deployment: %w", err)
	}
	var steps []any
	for _, step := range settings.Steps {
		pause := map[string]any{}
		if step.Pause != "" {
			pause["duration"] = step.Pause
		}
		steps = append(steps, map[string]any{"setWeight": int64(step.Weight)}, map[string]any{"pause": pause})
	}
	canary := map[string]any{"steps": steps}
	if settings.MaxUnavailable != nil {
		canary["maxUnavailable"] = settings.MaxUnavailable.String()
		if settings.MaxUnavailable.Type == intstr.Int {
			canary["maxUnavailable"] = int64(settings.MaxUnavailable.IntVal)
		}
	}
	rollout := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"replicas":                int64(*spec.Replicas),
		"selector":                selector,
		"template":                template,
		"minReadySeconds":         int64(spec.MinReadySeconds),
		"progressDeadlineSeconds": int64(settings.ProgressDeadlineSeconds),
		"progressDeadlineAbort":   true,
		"strategy":                map[string]any{"canary": canary},
	}}}
	if spec.RevisionHistoryLimit != nil {
		if err := unstructured.SetNestedField(rollout.Object, int64(*spec.RevisionHistoryLimit), "spec", "revisionHistoryLimit"); err != nil {
			return nil, err
		}
	}
	rollout.SetGroupVersionKind(Resource.GroupVersion().WithKind("Rollout"))
	rollout.SetNamespace(deployment.Namespace)
	rollout.SetName(deployment.Name)
	rollout.SetLabels(deployment.Labels)
	return rollout, nil
}

// IsHealthy returns whether a Rollout says of its current generation that all of its pods are available.
func IsHealthy(rollout *unstructured.Unstructured) bool {
	phase, _, _ := unstructured.NestedString(rollout.Object, "status", "phase")
	observed, _, _ := unstructured.NestedString(rollout.Object, "status", "observedGeneration")
	return phase == "Healthy" && observed == fmt.Sprint(rollout.GetGeneration())
}
