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
// ValidateModelBox.
func ValidateNodePortRange(box *model.ModelBox, portRange utilnet.PortRange) field.ErrorList {
	if portRange.Size == 0 {
		return nil
	}
	var errs field.ErrorList
	for i := range box.Spec.Ports {
		nodePort := int(box.Spec.Ports[i].NodePort)
		if len(validation.IsValidPortNum(nodePort)) > 0 || portRange.Contains(nodePort) {
			continue
		}
		path := field.NewPath("spec", "ports").Index(i).Child("nodePort")
		errs = append(errs, field.Invalid(path, nodePort, fmt.Sprintf("must be in the cluster's range of node ports, %s", portRange)))
	}
	return errs
}
