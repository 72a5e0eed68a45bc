// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"fmt"

	"github.com/spf13/pflag"

	corevalidation "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/core/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller"
	serviceingressrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/serviceingress"
)

// ServiceIngressControllerOptions says what Ingress the controller makes of a Service whose annotations do not say it.
type ServiceIngressControllerOptions struct {
	controller.ServiceIngressControllerConfiguration
}

// NewServiceIngressControllerOptions returns the defaults.
func NewServiceIngressControllerOptions() *ServiceIngressControllerOptions {
	return &ServiceIngressControllerOptions{}
}

// AddFlags adds the flags to the set of the controller.
func (o *ServiceIngressControllerOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.Defaults.Class, "service-ingress-class", o.Defaults.Class, fmt.Sprintf("The IngressClass for Services without the annotation %s. If empty, the default IngressClass of the cluster.", serviceingressrender.ClassAnnotation))
	fs.StringVar(&o.Defaults.HostPattern, "service-ingress-host-pattern", o.Defaults.HostPattern, fmt.Sprintf("The host for Services without the annotation %s. {name} and {namespace} are replaced by the name and the namespace of the Service, as in {name}.{namespace}.example.com. If empty, any host.", serviceingressrender.HostAnnotation))
}

// Validate returns every error in the options.
func (o *ServiceIngressControllerOptions) Validate() []error {
	var errs []error
	if class := o.Defaults.Class; class != "" {
		for _, err := range corevalidation.ValidateIngressClassName(class, nil) {
			errs = append(errs, fmt.Errorf("--service-ingress-class is %q and must be the name of an IngressClass: %s", class, err.Detail))
		}
	}
	if pattern := o.Defaults.HostPattern; pattern != "" {
		if err := serviceingressrender.ValidateHostPattern(pattern); err != nil {
			errs = append(errs, fmt.Errorf("--service-ingress-host-pattern is %q and %w", pattern, err))
		}
	}
	return errs
}
