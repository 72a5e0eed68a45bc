// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/scenario"
)

func newListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the scenarios",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			writer := printers.GetNewTabWriter(command.OutOrStdout())
			fmt.Fprintln(writer, "NAME\tSIZE\tQUICK\tFULL\tSHOWS")
			for _, s := range scenario.All {
				fmt.Fprintf(writer, "%s\t%d\t%d\t%d\t%s\n", s.Name, s.Size, s.QuickSize, cmp.Or(s.FullSize, s.Size), s.Shows)
			}
			return writer.Flush()
		},
	}
}
