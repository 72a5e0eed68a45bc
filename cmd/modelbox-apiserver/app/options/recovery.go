// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/recovery"
)

// RecoveryOptions says what is done about a store that has less than the cluster knows of.
type RecoveryOptions struct {
	Policy recovery.Policy
}

// NewRecoveryOptions returns the defaults.
func NewRecoveryOptions() *RecoveryOptions {
	return &RecoveryOptions{Policy: recovery.Recover}
}

// AddFlags adds the flags.
func (o *RecoveryOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar((*string)(&o.Policy), "store-recovery", string(o.Policy), "Action if the store is empty, older than before, "+
		"or not the store that the cluster knows, while the cluster has children of its objects. "+
		"recover: restore boxes, stacks and networks from their records in the cluster before the server becomes ready. "+
		"refuse: do not become ready, and report the reason. "+
		"ignore: serve the store as it is, for an intentional fresh start; the cluster then deletes the children of all missing objects.")
}

// Validate returns every error in the options.
func (o *RecoveryOptions) Validate() []error {
	switch o.Policy {
	case recovery.Recover, recovery.Refuse, recovery.Ignore:
		return nil
	default:
		return []error{fmt.Errorf("--store-recovery is %q and must be %q, %q or %q", o.Policy, recovery.Recover, recovery.Refuse, recovery.Ignore)}
	}
}
