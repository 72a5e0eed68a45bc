// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/report"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/result"
)

func newReportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "report DIR",
		Short: "Write the report again from the result.json in a folder",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := result.Read(filepath.Join(args[0], report.ResultFile))
			if err != nil {
				return err
			}
			return report.Write(args[0], r)
		},
	}
}
