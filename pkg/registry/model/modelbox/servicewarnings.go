// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
)

// serviceWarnings says that an update takes the Service away from those who use it, for good or for another one: a
// Service keeps its cluster IP, or that it has none, for life.
func serviceWarnings(box, old *model.ModelBox) []string {
	becomes := "is"
	when := ""
	if box.Spec.Paused {
		becomes, when = "will be", " when the box is unpaused"
	}
	switch before, after := serviceTypeOf(old), serviceTypeOf(box); {
	case before == "":
		return nil
	case after == "":
		names := ""
		if box.Spec.Workload == model.WorkloadStatefulSet {
			names = ", and the pods lose their DNS names"
		}
		return []string{fmt.Sprintf("spec.ports: without ports there is no Service: Service %s %s deleted%s%s", box.Name, becomes, when, names)}
	case before != model.ServiceTypeHeadless && after == model.ServiceTypeHeadless:
		return []string{fmt.Sprintf("spec.serviceType: Service %s %s replaced by a headless one%s: who uses its cluster IP loses it", box.Name, becomes, when)}
	case before == model.ServiceTypeHeadless && after != model.ServiceTypeHeadless:
		return []string{fmt.Sprintf("spec.serviceType: Service %s, which is headless, %s replaced by one with a cluster IP%s: its name will stand for another address", box.Name, becomes, when)}
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
