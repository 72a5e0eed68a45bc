// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
)

// serviceWarnings warns about an update that deletes or replaces the Service. The cluster IP of a Service cannot change, so that
// the controller replaces a Service that becomes headless, and one that is no longer headless.
func serviceWarnings(box, old *model.ModelBox) []string {
	service, when := fmt.Sprintf("Service %s is", box.Name), ""
	if box.Spec.Paused {
		service, when = fmt.Sprintf("Service %s will be", box.Name), " when the box is unpaused"
	}
	switch before, after := serviceTypeOf(old), serviceTypeOf(box); {
	case before == "":
		return nil
	case after == "":
		names := ""
		if box.Spec.Workload == model.WorkloadStatefulSet {
			names = warn.PodsLoseNames
		}
		return []string{"spec.ports: " + warn.ServiceDeleted(service, when, names)}
	case before != model.ServiceTypeHeadless && after == model.ServiceTypeHeadless:
		return []string{"spec.serviceType: " + warn.ServiceBecomesHeadless(service, when)}
	case before == model.ServiceTypeHeadless && after != model.ServiceTypeHeadless:
		return []string{"spec.serviceType: " + warn.ServiceGetsClusterIP(service, when)}
	default:
		return nil
	}
}

// serviceTypeOf returns the type of the Service of the box, empty for a box without a Service.
func serviceTypeOf(box *model.ModelBox) model.ServiceType {
	if len(box.Spec.Ports) == 0 {
		return ""
	}
	return helper.EffectiveServiceType(box.Spec.ServiceType, box.Spec.Ports)
}
