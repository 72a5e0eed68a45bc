// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/operator"
)

// newOperatorCommand is the operator as a process of its own, whose CPU is counted.
func newOperatorCommand() *cobra.Command {
	var o operator.Options
	command := &cobra.Command{
		Use:    operator.Command,
		Short:  "Run the operator that is measured",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(command.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			o.Started = func() { command.Println(operator.StartedLine) }
			return operator.Run(ctx, o)
		},
	}
	command.Flags().StringVar(&o.Kubeconfig, "kubeconfig", "", "of the cluster")
	command.Flags().IntVar(&o.Workers, "workers", 0, "how many boxes are reconciled at the same time; 0 for the default of controller-runtime")
	command.Flags().StringVar(&o.Namespace, "namespace", "", "the only one that is looked at; empty for all")
	command.SetOut(os.Stdout)
	return command
}
