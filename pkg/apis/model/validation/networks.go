// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/networkattachment"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// validateNetworks validates the networks of a box. That none is named twice, a tag says.
func validateNetworks(spec *model.ModelBoxSpec, specPath *field.Path) field.ErrorList {
	if len(spec.Networks) == 0 {
		return nil
	}
	path := specPath.Child("networks")
	var errs field.ErrorList
	for i, name := range validate.Each(spec.Networks, &errs) {
		errs = append(errs, validate.Invalid(path.Index(i), name, ValidateNetworkName(name, false))...)
	}
	taken := func(path *field.Path, annotations map[string]string) {
		if _, given := annotations[networkattachment.NetworksAnnotation]; given {
			errs = append(errs, field.Forbidden(path.Key(networkattachment.NetworksAnnotation), "spec.networks says which networks the pods are attached to"))
		}
	}
	taken(specPath.Child("annotations"), spec.Annotations)
	if spec.PodTemplate == nil {
		return errs
	}
	taken(specPath.Child("podTemplate", "metadata", "annotations"), spec.PodTemplate.Annotations)
	if spec.PodTemplate.Spec.HostNetwork {
		errs = append(errs, field.Forbidden(path, "pods with hostNetwork have the interfaces of their node, and no others"))
	}
	return errs
}
