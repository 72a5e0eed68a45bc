// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
)

// validateHTTPPort requires the box to have the port that HTTP is to go to from the Ingress or the HTTPRoute at path.
func validateHTTPPort(spec *model.ModelBoxSpec, port *intstr.IntOrString, path, specPath *field.Path) field.ErrorList {
	if helper.HTTPPort(spec.Ports, port) != nil {
		return nil
	}
	if helper.HTTPPort(spec.Ports, nil) == nil {
		return field.ErrorList{field.Required(specPath.Child("ports"), "must have a port with protocol TCP for "+path.String())}
	}
	missing := field.NotFound(path.Child("port"), port.String())
	missing.Detail = "must be the number or the name of one of spec.ports with protocol TCP"
	return field.ErrorList{missing}
}
