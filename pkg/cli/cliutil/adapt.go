// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cliutil

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// Adapt makes a command of kubectl's one of the plugin's: it runs with the arguments that the function makes of those that were
// given, and looks after signals itself, as it does in kubectl.
func Adapt(cmd *cobra.Command, arguments func(cmd *cobra.Command, arguments []string) ([]string, error)) *cobra.Command {
	run := cmd.Run
	cmd.Run = nil
	cmd.RunE = func(cmd *cobra.Command, given []string) error {
		adapted, err := arguments(cmd, given)
		if err != nil {
			return err
		}
		signal.Reset(os.Interrupt, syscall.SIGTERM)
		run(cmd, adapted)
		return nil
	}
	return cmd
}
