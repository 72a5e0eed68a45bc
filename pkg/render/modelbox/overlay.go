// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// PodTemplate returns the pod template of the workload of the box, with spec.podTemplate merged into it. The box is valid only if
// the template is. The template includes the volumes that a StatefulSet adds to its pods.
func PodTemplate(box *modelv1.ModelBox) (*corev1.PodTemplateSpec, error) {
	configuration, err := podTemplate(box)
	if err != nil {
		return nil, err
	}
	template := &corev1.PodTemplateSpec{}
	if err := render.Convert(configuration, template); err != nil {
		return nil, err
	}
	if box.Spec.Workload == modelv1.WorkloadStatefulSet {
		template.Spec.Volumes = append(template.Spec.Volumes, claimVolumes(box)...)
	}
	return template, nil
}

// hasDirective returns whether the value has a key that is a directive of strategic merge. Validation refuses boxes with such a
// key.
func hasDirective(value any) bool {
	switch value := value.(type) {
	case map[string]any:
		for key, field := range value {
			if helper.IsMergeDirective(key) || hasDirective(field) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(value, hasDirective)
	}
	return false
}

// overlaid merges the overlay into the template as a strategic merge patch, and returns the result.
func overlaid(template *applycorev1.PodTemplateSpecApplyConfiguration, overlay *corev1.PodTemplateSpec) (*applycorev1.PodTemplateSpecApplyConfiguration, error) {
	if overlay == nil {
		return template, nil
	}
	original, err := render.Fields(template)
	if err != nil {
		return nil, err
	}
	patch, err := render.SetFields(overlay)
	if err != nil {
		return nil, err
	}
	schema, err := strategicpatch.NewPatchMetaFromStruct(corev1.PodTemplateSpec{})
	if err != nil {
		return nil, fmt.Errorf("reading the merge keys of pod templates: %w", err)
	}
	var merged map[string]any
	if hasDirective(patch) {
		// A box of an earlier release may have a directive. Do not change its pods.
		merged, err = strategicpatch.StrategicMergeMapPatchUsingLookupPatchMeta(original, patch, schema)
	} else {
		merged, err = merge(original, patch, schema)
	}
	if err != nil {
		return nil, fmt.Errorf("merging spec.podTemplate: %w", err)
	}
	result := &applycorev1.PodTemplateSpecApplyConfiguration{}
	if err := render.FromFields(merged, result); err != nil {
		return nil, err
	}
	return result, nil
}
