// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/clientsideapply"
)

// validateClientSideApply refuses an update by client-side apply whose boxes have got other ports on their way.
func validateClientSideApply(stack, old *model.ModelStack) field.ErrorList {
	applied, lastApplied, ok := clientsideapply.Manifests(stack, old)
	if !ok {
		return nil
	}
	appliedPorts, lastAppliedPorts, oldPorts := portsIn(applied), portsIn(lastApplied), portsOf(old)
	path := field.NewPath("spec", "components")
	var errs field.ErrorList
	for i, component := range validate.Each(stack.Spec.Components, &errs) {
		if component.Box == nil {
			continue
		}
		errs = append(errs, clientsideapply.Ports{
			Applied: appliedPorts[component.Name], LastApplied: lastAppliedPorts[component.Name],
			New: component.Box.Ports, Old: oldPorts[component.Name],
		}.Validate(path.Index(i).Child("box", "ports"))...)
	}
	return errs
}

// portsIn returns the ports of each component in a manifest, none where it is not one of a stack.
func portsIn(manifest string) map[string][]corev1.ServicePort {
	var stack struct {
		Spec struct {
			Components []struct {
				Name string `json:"name"`
				Box  struct {
					Ports []corev1.ServicePort `json:"ports"`
				} `json:"box"`
			} `json:"components"`
		} `json:"spec"`
	}
	if err := json.Unmarshal([]byte(manifest), &stack); err != nil {
		return nil
	}
	ports := map[string][]corev1.ServicePort{}
	for _, component := range stack.Spec.Components {
		ports[component.Name] = component.Box.Ports
	}
	return ports
}

// portsOf returns the ports of each component that has a box.
func portsOf(stack *model.ModelStack) map[string][]corev1.ServicePort {
	ports := map[string][]corev1.ServicePort{}
	for _, component := range stack.Spec.Components {
		if component.Box != nil {
			ports[component.Name] = component.Box.Ports
		}
	}
	return ports
}
