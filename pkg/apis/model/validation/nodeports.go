// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// ValidateNodePortRange returns which node ports of a box the cluster does not give out, for its range is the given
// one. An empty range is not known: it leaves the node ports to the cluster. What is no port at all is left to
// ValidateModelBox. The spec of the box is at path.
func ValidateNodePortRange(box *model.ModelBox, portRange utilnet.PortRange, path *field.Path) field.ErrorList {
	if portRange.Size == 0 {
		return nil
	}
	var errs field.ErrorList
	for i := range box.Spec.Ports {
		errs = append(errs, validateInRange(box.Spec.Ports[i].NodePort, portRange, path.Child("ports").Index(i).Child("nodePort"))...)
	}
	if service := box.Spec.Service; service != nil {
		errs = append(errs, validateInRange(service.HealthCheckNodePort, portRange, path.Child("service", "healthCheckNodePort"))...)
	}
	return errs
}

// ValidateNodePortRangeUpdate is ValidateNodePortRange of a box that replaces old, without what stays.
func ValidateNodePortRangeUpdate(box, old *model.ModelBox, portRange utilnet.PortRange, path *field.Path) field.ErrorList {
	return ratchetSpec(path, box, old, ValidateNodePortRange(box, portRange, path), ValidateNodePortRange(old, portRange, path))
}

func validateInRange(nodePort int32, portRange utilnet.PortRange, path *field.Path) field.ErrorList {
	if len(validation.IsValidPortNum(int(nodePort))) > 0 || portRange.Contains(int(nodePort)) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, nodePort, fmt.Sprintf("must be in the cluster's range of node ports, %s", portRange))}
}
