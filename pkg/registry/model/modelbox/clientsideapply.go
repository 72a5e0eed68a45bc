// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/clientsideapply"
)

// validateClientSideApply refuses an update by client-side apply whose ports have become others on their way.
func validateClientSideApply(box, old *model.ModelBox) field.ErrorList {
	applied, lastApplied, ok := clientsideapply.Manifests(box, old)
	if !ok {
		return nil
	}
	return clientsideapply.Ports{
		Applied: portsIn(applied), LastApplied: portsIn(lastApplied),
		New: box.Spec.Ports, Old: old.Spec.Ports,
	}.Validate(field.NewPath("spec", "ports"))
}

// portsIn returns the ports in a manifest, none where it is not one of a box.
func portsIn(manifest string) []corev1.ServicePort {
	var box struct {
		Spec struct {
			Ports []corev1.ServicePort `json:"ports"`
		} `json:"spec"`
	}
	if err := json.Unmarshal([]byte(manifest), &box); err != nil {
		return nil
	}
	return box.Spec.Ports
}
