// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
)

// serviceOptionWarnings returns the warnings of the Service API, and a warning for options of a box without a Service.
func serviceOptionWarnings(spec *model.ModelBoxSpec, path *field.Path) []string {
	if spec.Service == nil {
		return nil
	}
	service, path := spec.Service, path.Child("service")
	if len(spec.Ports) == 0 {
		return []string{fmt.Sprintf("%s: %s", path, warn.NoEffectWithoutPorts)}
	}
	var warnings []string
	if spec.ServiceType == model.ServiceTypeHeadless && service.SessionAffinity == corev1.ServiceAffinityClientIP {
		warnings = append(warnings, fmt.Sprintf("%s: %s", path.Child("sessionAffinity"), warn.IgnoredFor(string(model.ServiceTypeHeadless))))
	}
	for i, cidr := range service.LoadBalancerSourceRanges {
		if len(warnings) >= maxWarnings {
			break
		}
		warnings = append(warnings, utilvalidation.GetWarningsForCIDR(path.Child("loadBalancerSourceRanges").Index(i), cidr)...)
	}
	if distribution := service.TrafficDistribution; distribution != nil && *distribution == corev1.ServiceTrafficDistributionPreferClose {
		warnings = append(warnings, fmt.Sprintf("%s: %q is deprecated; use %q", path.Child("trafficDistribution"),
			corev1.ServiceTrafficDistributionPreferClose, corev1.ServiceTrafficDistributionPreferSameZone))
	}
	return warnings
}
