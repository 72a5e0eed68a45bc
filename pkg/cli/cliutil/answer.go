// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cliutil

import (
	"io"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/printers"
)

// PrintAnswer prints what a subresource has answered about a box or a stack: the answer itself where an object is asked for, or
// else the name of the box or the stack and what has been done.
func PrintAnswer(printer printers.ResourcePrinter, flags *genericclioptions.PrintFlags, about, answer runtime.Object, out io.Writer) error {
	if flags.OutputFormat == nil || *flags.OutputFormat == "" || *flags.OutputFormat == "name" {
		return printer.PrintObj(about, out)
	}
	return printer.PrintObj(answer, out)
}
