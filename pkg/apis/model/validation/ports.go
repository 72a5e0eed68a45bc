// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	corevalidation "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/core/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// validatePorts validates the ports of a box as the ports of its Service, and checks that their target ports exist.
func validatePorts(spec *model.ModelBoxSpec, service *corev1.ServiceSpec, path *field.Path) field.ErrorList {
	errs := withoutDefaults(corevalidation.ValidateServicePorts(service, path), spec.Ports, path)
	targets := portNamesOf(spec)
	for i := range validate.Each(spec.Ports, &errs) {
		errs = append(errs, validateNamedTargetPort(&spec.Ports[i], targets, path.Index(i).Child("targetPort"))...)
	}
	return errs
}

// withoutDefaults leaves out an error about a name or a target port that is only wrong because the field that it defaults from is
// wrong. The author of the box may not know the defaulted field.
func withoutDefaults(errs field.ErrorList, ports []corev1.ServicePort, path *field.Path) field.ErrorList {
	derived := map[string]bool{}
	for i := range ports {
		port, portPath := &ports[i], path.Index(i)
		if port.TargetPort == intstr.FromInt32(port.Port) {
			derived[portPath.Child("targetPort").String()] = true
		}
		if port.Name != modelv1.DefaultPortName(port) {
			continue
		}
		isDuplicate := slices.ContainsFunc(errs, func(err *field.Error) bool { return err.Field == portPath.String() })
		name := portPath.Child("name").String()
		errs = slices.DeleteFunc(errs, func(err *field.Error) bool {
			return err.Field == name && (isDuplicate || err.Type != field.ErrorTypeDuplicate)
		})
	}
	return slices.DeleteFunc(errs, func(err *field.Error) bool { return derived[err.Field] })
}
