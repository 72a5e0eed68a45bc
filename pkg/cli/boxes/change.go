// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package boxes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/cli-runtime/pkg/printers"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
)

// Changer changes the boxes of a selection, for a command.
type Changer struct {
	genericiooptions.IOStreams
	Selection

	// FieldManager owns what is changed.
	FieldManager string
	// DryRun is that of kubectl.
	DryRun cmdutil.DryRunStrategy
	// PrintFlags print the boxes.
	PrintFlags *genericclioptions.PrintFlags

	client  versioned.Interface
	printer printers.ResourcePrinter
}

// AddFlags adds the flags that select, and those that say how to change and to print.
func (c *Changer) AddFlags(cmd *cobra.Command) {
	c.Selection.AddFlags(cmd)
	c.PrintFlags.AddFlags(cmd)
	cmdutil.AddDryRunFlag(cmd)
	cmdutil.AddFieldManagerFlagVar(cmd, &c.FieldManager, "kubectl-modelbox")
}

// Complete connects to the cluster.
func (c *Changer) Complete(f cmdutil.Factory, cmd *cobra.Command, arguments []string) error {
	if err := c.Selection.Complete(f, arguments); err != nil {
		return err
	}
	var err error
	if c.client, err = NewClient(f); err != nil {
		return err
	}
	if c.DryRun, err = cmdutil.GetDryRunStrategy(cmd); err != nil {
		return err
	}
	cmdutil.PrintFlagsWithDryRunStrategy(c.PrintFlags, c.DryRun)
	c.printer, err = c.PrintFlags.ToPrinter()
	return err
}

// Change changes the selected boxes, and prints each. The error has all that could not be changed. A box that another
// client changes meanwhile is refused as a conflict.
func (c *Changer) Change(ctx context.Context, change func(*modelv1.ModelBox) error) error {
	selected, err := c.GetBoxes()
	if err != nil {
		return err
	}
	var errs []error
	for _, box := range selected {
		changed, err := c.changed(ctx, box, change)
		if err == nil {
			err = c.printer.PrintObj(changed, c.Out)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s/%s: %w", Boxes, box.Name, err))
		}
	}
	return utilerrors.NewAggregate(errs)
}

// changed returns the box as it is once it was changed.
func (c *Changer) changed(ctx context.Context, box *modelv1.ModelBox, change func(*modelv1.ModelBox) error) (*modelv1.ModelBox, error) {
	after := box.DeepCopy()
	if err := change(after); err != nil {
		return nil, err
	}
	if c.DryRun == cmdutil.DryRunClient {
		return after, nil
	}
	patch, err := mergePatch(box, after)
	if err != nil {
		return nil, err
	}
	options := metav1.PatchOptions{FieldManager: c.FieldManager}
	if c.DryRun == cmdutil.DryRunServer {
		options.DryRun = []string{metav1.DryRunAll}
	}
	return c.client.ModelV1().ModelBoxes(box.Namespace).Patch(ctx, box.Name, types.MergePatchType, patch, options)
}

// mergePatch returns the patch from one state of a box to another, for no other version of the box than the first.
func mergePatch(before, after *modelv1.ModelBox) ([]byte, error) {
	original, err := json.Marshal(before)
	if err != nil {
		return nil, err
	}
	modified, err := json.Marshal(after)
	if err != nil {
		return nil, err
	}
	data, err := jsonmergepatch.CreateThreeWayJSONMergePatch(original, modified, original)
	if err != nil {
		return nil, err
	}
	patch := map[string]any{}
	if err := json.Unmarshal(data, &patch); err != nil {
		return nil, err
	}
	if len(patch) == 0 {
		return nil, errors.New("is already up to date")
	}
	patch["metadata"] = map[string]any{"resourceVersion": before.ResourceVersion}
	return json.Marshal(patch)
}
