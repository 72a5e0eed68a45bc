// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package boxes

import (
	"io"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/printers"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// PrintAnswer prints what a subresource has answered about a box: the answer itself where an object is asked for, or else the
// name of the box and what has been done.
func PrintAnswer(printer printers.ResourcePrinter, flags *genericclioptions.PrintFlags, box *modelv1.ModelBox, answer runtime.Object, out io.Writer) error {
	if flags.OutputFormat == nil || *flags.OutputFormat == "" || *flags.OutputFormat == "name" {
		return printer.PrintObj(box, out)
	}
	return printer.PrintObj(answer, out)
}
