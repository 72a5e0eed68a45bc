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

// PodTemplate returns the pod template of the box's workload, spec.podTemplate merged in: what has to be valid for the box to
// be. The volumes that a StatefulSet adds to its pods are among those of the template.
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

// hasDirective returns whether strategic merge would take a key of a map in the value for a directive. Boxes are not
// accepted with any.
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

// overlaid returns the template with the overlay merged into it as a strategic merge patch.
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
		// A box of an older release may have one. Its pods stay what they are.
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
