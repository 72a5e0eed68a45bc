// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"fmt"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// dryRun is the strategy of a dry run, as kubectl means it.
type dryRun string

const (
	dryRunNone   dryRun = "none"
	dryRunClient dryRun = "client"
	dryRunServer dryRun = "server"
)

func (o *options) addDryRunFlag(cmd *cobra.Command) {
	o.dryRun = dryRunNone
	cmd.Flags().Var(&o.dryRun, "dry-run", `Must be "none", "server", or "client". If client strategy, only print the changes that would be made. `+
		`If server strategy, submit server-side requests that do not depend on earlier ones, without persisting them.`)
	cmd.Flags().Lookup("dry-run").NoOptDefVal = string(dryRunClient)
}

// String returns the value of the flag.
func (d *dryRun) String() string { return string(*d) }

// Type is what usage calls the value.
func (d *dryRun) Type() string { return "string" }

// Set takes the value of the flag.
func (d *dryRun) Set(value string) error {
	switch dryRun(value) {
	case dryRunNone, dryRunClient, dryRunServer:
		*d = dryRun(value)
		return nil
	default:
		return fmt.Errorf("must be %q, %q or %q", dryRunNone, dryRunServer, dryRunClient)
	}
}

// isDry returns whether nothing is to be changed.
func (d dryRun) isDry() bool { return d == dryRunClient || d == dryRunServer }

// sends returns whether requests that write are sent.
func (d dryRun) sends() bool { return d != dryRunClient }

// option is what requests that write carry.
func (d dryRun) option() []string {
	if d == dryRunServer {
		return []string{metav1.DryRunAll}
	}
	return nil
}

func (d dryRun) suffix() string {
	switch d {
	case dryRunClient:
		return " (dry run)"
	case dryRunServer:
		return " (server dry run)"
	default:
		return ""
	}
}
