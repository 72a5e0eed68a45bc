// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
)

// serviceWarnings says that an update takes the Service away from those who use it, for good or for another one: a
// Service keeps its cluster IP, or that it has none, for life.
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

// serviceTypeOf returns the type of the box's Service, empty where it has none.
func serviceTypeOf(box *model.ModelBox) model.ServiceType {
	if len(box.Spec.Ports) == 0 {
		return ""
	}
	return helper.EffectiveServiceType(box.Spec.ServiceType, box.Spec.Ports)
}
