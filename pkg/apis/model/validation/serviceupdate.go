// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
)

// validateServiceUpdate refuses changes that a Service does not take while it stays the one that it is.
func validateServiceUpdate(spec, old *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	if len(spec.Ports) == 0 || len(old.Ports) == 0 {
		return nil
	}
	serviceType, oldType := helper.EffectiveServiceType(spec.ServiceType, spec.Ports), helper.EffectiveServiceType(old.ServiceType, old.Ports)
	service, oldService := ptr.Deref(spec.Service, model.ModelBoxService{}), ptr.Deref(old.Service, model.ModelBoxService{})
	path = path.Child("service")
	var errs field.ErrorList
	if serviceType == model.ServiceTypeLoadBalancer && oldType == model.ServiceTypeLoadBalancer {
		errs = validateLoadBalancerUpdate(&service, &oldService, path)
	}
	// A headless Service has no addresses that a family could change of.
	isHeadless := serviceType == model.ServiceTypeHeadless || oldType == model.ServiceTypeHeadless
	if families, oldFamilies := service.IPFamilies, oldService.IPFamilies; !isHeadless && len(families) > 0 && len(oldFamilies) > 0 && families[0] != oldFamilies[0] {
		errs = append(errs, field.Invalid(path.Child("ipFamilies").Index(0), families[0], "may not change once set"))
	}
	return errs
}

func validateLoadBalancerUpdate(service, old *model.ModelBoxService, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if !apiequality.Semantic.DeepEqual(service.LoadBalancerClass, old.LoadBalancerClass) {
		errs = append(errs, field.Invalid(path.Child("loadBalancerClass"), service.LoadBalancerClass, "may not change while serviceType is LoadBalancer"))
	}
	const local = corev1.ServiceExternalTrafficPolicyLocal
	isChecked := service.ExternalTrafficPolicy == local && old.ExternalTrafficPolicy == local
	if port := service.HealthCheckNodePort; isChecked && port != 0 && port != old.HealthCheckNodePort {
		errs = append(errs, field.Invalid(path.Child("healthCheckNodePort"), port, "may not change while externalTrafficPolicy is Local"))
	}
	return errs
}
