// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	cliflag "k8s.io/component-base/cli/flag"
	componentbaseconfig "k8s.io/component-base/config"
	componentbaseoptions "k8s.io/component-base/config/options"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller"
)

// ControllerOptions says which of the embedded controllers run, and how.
type ControllerOptions struct {
	LeaderElection componentbaseconfig.LeaderElectionConfiguration
	// Controllers are those to enable, as in controller.Configuration.
	Controllers    []string
	ModelBox       *ModelBoxControllerOptions
	References     *ReferencesControllerOptions
	ServiceIngress *ServiceIngressControllerOptions
}

// NewControllerOptions returns the defaults.
func NewControllerOptions() *ControllerOptions {
	return &ControllerOptions{
		LeaderElection: componentbaseconfig.LeaderElectionConfiguration{
			LeaderElect:       true,
			LeaseDuration:     metav1.Duration{Duration: 15 * time.Second},
			RenewDeadline:     metav1.Duration{Duration: 10 * time.Second},
			RetryPeriod:       metav1.Duration{Duration: 2 * time.Second},
			ResourceLock:      resourcelock.LeasesResourceLock,
			ResourceName:      "modelbox-controller",
			ResourceNamespace: "modelbox-system",
		},
		Controllers:    []string{"*"},
		ModelBox:       NewModelBoxControllerOptions(),
		References:     NewReferencesControllerOptions(),
		ServiceIngress: NewServiceIngressControllerOptions(),
	}
}

// AddFlags adds the flags for all controllers, and a separate set of flags for each controller.
func (o *ControllerOptions) AddFlags(sets *cliflag.NamedFlagSets) {
	fs := sets.FlagSet("controllers")
	fs.StringSliceVar(&o.Controllers, "controllers", o.Controllers, fmt.Sprintf(""+
		"A list of controllers to enable. '*' enables all on-by-default controllers, 'foo' enables the controller "+
		"named 'foo', '-foo' disables the controller named 'foo'.\nAll controllers: %s\nDisabled-by-default controllers: %s",
		strings.Join(controller.KnownControllers(), ", "), strings.Join(controller.ControllersDisabledByDefault(), ", ")))
	componentbaseoptions.BindLeaderElectionFlags(&o.LeaderElection, fs)
	o.ModelBox.AddFlags(sets.FlagSet("modelbox controller"))
	o.References.AddFlags(sets.FlagSet("references controller"))
	o.ServiceIngress.AddFlags(sets.FlagSet("serviceingress controller"))
}

// Configuration returns what the options say of the controllers themselves.
func (o *ControllerOptions) Configuration() controller.Configuration {
	restarts := o.References.ReferencesControllerConfiguration
	restarts.KeySecret.Namespace = o.LeaderElection.ResourceNamespace
	return controller.Configuration{
		Controllers:              o.Controllers,
		ModelBoxController:       o.ModelBox.ModelBoxControllerConfiguration,
		ReferencesController:     restarts,
		ServiceIngressController: o.ServiceIngress.ServiceIngressControllerConfiguration,
	}
}

// Validate returns every error in the options.
func (o *ControllerOptions) Validate() []error {
	errs := slices.Concat(o.ModelBox.Validate(), o.References.Validate(), o.ServiceIngress.Validate())
	known := controller.KnownControllers()
	for _, entry := range o.Controllers {
		if name := strings.TrimPrefix(entry, "-"); entry != "*" && !slices.Contains(known, name) {
			errs = append(errs, fmt.Errorf("--controllers: %q is not in the list of known controllers: %s", name, strings.Join(known, ", ")))
		}
	}
	election := o.LeaderElection
	if !election.LeaderElect {
		return errs
	}
	if election.ResourceLock != resourcelock.LeasesResourceLock {
		errs = append(errs, fmt.Errorf("--leader-elect-resource-lock is %q and must be %q", election.ResourceLock, resourcelock.LeasesResourceLock))
	}
	if election.ResourceName == "" || election.ResourceNamespace == "" {
		errs = append(errs, fmt.Errorf("--leader-elect-resource-name and --leader-elect-resource-namespace must be given"))
	}
	lease, renew, retry := election.LeaseDuration.Duration, election.RenewDeadline.Duration, election.RetryPeriod.Duration
	if lease < time.Second {
		errs = append(errs, fmt.Errorf("--leader-elect-lease-duration is %s and must be at least 1s: a Lease counts in seconds", lease))
	}
	if lease <= renew {
		errs = append(errs, fmt.Errorf("--leader-elect-lease-duration is %s and must be longer than --leader-elect-renew-deadline, which is %s", lease, renew))
	}
	// Retries are spread by this factor, and one of them has to fit.
	if longest := time.Duration(leaderelection.JitterFactor * float64(retry)); retry <= 0 || renew <= longest {
		errs = append(errs, fmt.Errorf("--leader-elect-retry-period is %s and must be positive, and %.1f times it shorter than --leader-elect-renew-deadline, which is %s", retry, leaderelection.JitterFactor, renew))
	}
	return errs
}
