// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package command is the command line of bench.
package command

import (
	"github.com/spf13/cobra"
)

// New returns the command bench.
func New() *cobra.Command {
	command := &cobra.Command{
		Use:           "bench",
		Short:         "Measure ModelBox beside its peers",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	command.CompletionOptions.DisableDefaultCmd = true
	command.AddCommand(newRunCommand(), newListCommand(), newReportCommand(), newOperatorCommand())
	return command
}
