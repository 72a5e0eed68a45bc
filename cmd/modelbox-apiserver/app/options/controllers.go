// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	componentbaseconfig "k8s.io/component-base/config"
	componentbaseoptions "k8s.io/component-base/config/options"
)

// ControllerOptions says how the embedded controllers run.
type ControllerOptions struct {
	LeaderElection componentbaseconfig.LeaderElectionConfiguration
	// Workers is the number of boxes that are reconciled at the same time, those of one namespace with at most half of
	// them, and at least one.
	Workers int
	// ResyncPeriod is how often every box is looked at although nothing happened.
	ResyncPeriod time.Duration
}

// minResyncPeriod is the shortest that informers keep to. They raise a shorter one without saying so.
const minResyncPeriod = time.Second

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
		Workers:      20,
		ResyncPeriod: 10 * time.Minute,
	}
}

// AddFlags adds the flags.
func (o *ControllerOptions) AddFlags(fs *pflag.FlagSet) {
	componentbaseoptions.BindLeaderElectionFlags(&o.LeaderElection, fs)
	fs.IntVar(&o.Workers, "modelbox-workers", o.Workers, "Number of boxes that are reconciled at the same time, at most half of them of one namespace.")
	fs.DurationVar(&o.ResyncPeriod, "modelbox-resync-period", o.ResyncPeriod, "How often every box is looked at although nothing happened. This costs no request where nothing is wrong.")
}

// Validate returns every error in the options.
func (o *ControllerOptions) Validate() []error {
	var errs []error
	if o.Workers < 1 {
		errs = append(errs, fmt.Errorf("--modelbox-workers is %d and must be at least 1", o.Workers))
	}
	if o.ResyncPeriod < minResyncPeriod {
		errs = append(errs, fmt.Errorf("--modelbox-resync-period is %s and must be at least %s", o.ResyncPeriod, minResyncPeriod))
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
