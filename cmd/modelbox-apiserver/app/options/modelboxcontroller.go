// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller"
)

// minResyncPeriod is the shortest that informers keep to. They raise a shorter one without saying so.
const minResyncPeriod = time.Second

// ModelBoxControllerOptions says how the controller of boxes runs.
type ModelBoxControllerOptions struct {
	controller.ModelBoxControllerConfiguration
}

// NewModelBoxControllerOptions returns the defaults.
func NewModelBoxControllerOptions() *ModelBoxControllerOptions {
	return &ModelBoxControllerOptions{controller.ModelBoxControllerConfiguration{
		ConcurrentSyncs: 20,
		ResyncPeriod:    10 * time.Minute,
	}}
}

// AddFlags adds the flags to the set of the controller.
func (o *ModelBoxControllerOptions) AddFlags(fs *pflag.FlagSet) {
	fs.IntVar(&o.ConcurrentSyncs, "concurrent-modelbox-syncs", o.ConcurrentSyncs, "The number of boxes that are allowed to sync concurrently, at most half of them from one namespace. Larger number = more responsive boxes, but more CPU (and network) load.")
	fs.DurationVar(&o.ResyncPeriod, "modelbox-resync-period", o.ResyncPeriod, "Interval at which each box is reconciled without a change. It sends no request for a box that is up to date.")
}

// Validate returns every error in the options.
func (o *ModelBoxControllerOptions) Validate() []error {
	var errs []error
	if o.ConcurrentSyncs < 1 {
		errs = append(errs, fmt.Errorf("--concurrent-modelbox-syncs is %d and must be at least 1", o.ConcurrentSyncs))
	}
	if o.ResyncPeriod < minResyncPeriod {
		errs = append(errs, fmt.Errorf("--modelbox-resync-period is %s and must be at least %s", o.ResyncPeriod, minResyncPeriod))
	}
	return errs
}
