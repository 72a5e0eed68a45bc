// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

var protocols = []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP}

// validatePorts says nothing of a name or a target port that is wrong because what it defaults from is: whoever wrote
// the box may never have heard of it.
func validatePorts(spec *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	targets := portNamesOf(spec)
	serviceType := helper.EffectiveServiceType(spec.ServiceType, spec.Ports)
	names, numbers, nodePorts := validate.Unique[string]{}, validate.Unique[string]{}, validate.Unique[string]{}
	for i := range validate.Each(spec.Ports, &errs) {
		port, portPath := &spec.Ports[i], path.Index(i)
		isDuplicate := numbers.Add(fmt.Sprintf("%d/%s", port.Port, port.Protocol), portPath)
		hasDefaultName := port.Name == modelv1.DefaultPortName(port)
		errs = append(errs, validatePort(port, portPath)...)
		if !hasDefaultName {
			errs = append(errs, validatePortName(port.Name, len(spec.Ports) > 1, portPath.Child("name"))...)
		}
		if port.TargetPort != intstr.FromInt32(port.Port) {
			errs = append(errs, validateTargetPort(port, targets, portPath.Child("targetPort"))...)
		}
		errs = append(errs, validateNodePort(port.NodePort, serviceType, portPath.Child("nodePort"))...)
		if !hasDefaultName || len(isDuplicate) == 0 {
			errs = append(errs, names.Add(port.Name, portPath.Child("name"))...)
		}
		errs = append(errs, isDuplicate...)
		if port.NodePort != 0 {
			errs = append(errs, nodePorts.Add(fmt.Sprintf("%d/%s", port.NodePort, port.Protocol), portPath.Child("nodePort"))...)
		}
	}
	return errs
}

func validatePort(port *corev1.ServicePort, path *field.Path) field.ErrorList {
	return slices.Concat(
		validate.Invalid(path.Child("port"), port.Port, validation.IsValidPortNum(int(port.Port))),
		validate.Enum(port.Protocol, protocols, path.Child("protocol")),
		validateAppProtocol(port.AppProtocol, path.Child("appProtocol")),
	)
}

func validatePortName(name string, required bool, path *field.Path) field.ErrorList {
	if name == "" && !required {
		return nil
	}
	return validate.Format(name, validation.IsDNS1123Label, path)
}

func validateAppProtocol(protocol *string, path *field.Path) field.ErrorList {
	if protocol == nil {
		return nil
	}
	return validate.Format(*protocol, content.IsLabelKey, path)
}

// validateNodePort leaves the range that the cluster gives out to ValidateNodePortRange: a box does not tell.
func validateNodePort(nodePort int32, serviceType model.ServiceType, path *field.Path) field.ErrorList {
	if nodePort == 0 {
		return nil
	}
	if serviceType == model.ServiceTypeClusterIP || serviceType == model.ServiceTypeHeadless {
		detail := fmt.Sprintf("needs serviceType NodePort or LoadBalancer, and serviceType is %s", serviceType)
		return field.ErrorList{field.Forbidden(path, detail)}
	}
	return validate.Invalid(path, nodePort, validation.IsValidPortNum(int(nodePort)))
}
