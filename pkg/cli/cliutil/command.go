// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cliutil

import (
	"context"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
)

// Options are the options of a command, with the steps of the commands of kubectl.
type Options interface {
	// Complete takes the arguments, and what the command line says of the cluster.
	Complete(f cmdutil.Factory, cmd *cobra.Command, arguments []string) error
	// Validate returns an error for options that cannot be, or exclude each other.
	Validate() error
	// Run does what the command is for.
	Run(ctx context.Context) error
}

// RunE returns what cobra runs for a command: one step after the other, up to the first that fails.
func RunE(f cmdutil.Factory, o Options) func(cmd *cobra.Command, arguments []string) error {
	return func(cmd *cobra.Command, arguments []string) error {
		if err := o.Complete(f, cmd, arguments); err != nil {
			return err
		}
		if err := o.Validate(); err != nil {
			return err
		}
		return o.Run(cmd.Context())
	}
}

// NewClient returns a client for boxes of the cluster that the command line says.
func NewClient(getter genericclioptions.RESTClientGetter) (versioned.Interface, error) {
	config, err := getter.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	return versioned.NewForConfig(config)
}
