// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"fmt"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller"
)

// ReferencesControllerOptions says which changes of references restart boxes, and how fast.
type ReferencesControllerOptions struct {
	// The configuration is complete but for the namespace of KeySecret.
	controller.ReferencesControllerConfiguration
}

// NewReferencesControllerOptions returns the defaults.
func NewReferencesControllerOptions() *ReferencesControllerOptions {
	return &ReferencesControllerOptions{controller.ReferencesControllerConfiguration{
		RestartRate: 2,
		KeySecret:   types.NamespacedName{Name: "modelbox-apiserver-reference-key"},
	}}
}

// AddFlags adds the flags to the set of the controller.
func (o *ReferencesControllerOptions) AddFlags(fs *pflag.FlagSet) {
	fs.Float64Var(&o.RestartRate, "reference-restart-rate", o.RestartRate, "Number of boxes per second that restart because a ConfigMap or a Secret that they refer to has changed, at most half of them in one namespace. A few boxes restart at once.")
	fs.BoolVar(&o.WatchesSecrets, "watch-referenced-secrets", o.WatchesSecrets, "If true, changes of Secrets restart the boxes that refer to them and whose restartOn is References. The server needs permission to list and watch Secrets. Otherwise, only changes of ConfigMaps do.")
}

// Validate returns every error in the options.
func (o *ReferencesControllerOptions) Validate() []error {
	if o.RestartRate <= 0 {
		return []error{fmt.Errorf("--reference-restart-rate is %v and must be greater than 0", o.RestartRate)}
	}
	return nil
}
