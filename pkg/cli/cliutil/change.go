// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cliutil

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// Change changes the selected boxes, and prints each. The error has all that could not be changed. A box that another
// client changes meanwhile is refused as a conflict.
func (a *Action) Change(ctx context.Context, change func(*modelv1.ModelBox) error) error {
	selected, err := a.GetBoxes()
	return ForEach(selected, err, func(_ string, object Object) error {
		changed, err := a.changed(ctx, object.(*modelv1.ModelBox), change)
		if err == nil {
			err = a.printer.PrintObj(changed, a.Out)
		}
		if err != nil {
			return fmt.Errorf("%s/%s: %w", Boxes, object.GetName(), err)
		}
		return nil
	})
}

// changed returns the box as it is once it was changed.
func (a *Action) changed(ctx context.Context, box *modelv1.ModelBox, change func(*modelv1.ModelBox) error) (*modelv1.ModelBox, error) {
	after := box.DeepCopy()
	if err := change(after); err != nil {
		return nil, err
	}
	if a.DryRun == cmdutil.DryRunClient {
		return after, nil
	}
	patch, err := mergePatch(box, after)
	if err != nil {
		return nil, err
	}
	options := metav1.PatchOptions{FieldManager: a.FieldManager, DryRun: a.dryRun()}
	return a.client.ModelV1().ModelBoxes(box.Namespace).Patch(ctx, box.Name, types.MergePatchType, patch, options)
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
