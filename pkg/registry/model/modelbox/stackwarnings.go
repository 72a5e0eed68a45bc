// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
	modelstackrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelstack"
)

// maxNamedFields is how many fields a warning names.
const maxNamedFields = 5

// stackWarnings warns about an update of fields that the stack of the box sets, because the controller reverts it. In an updated
// box, the user of the request owns the fields that the update changes.
func stackWarnings(box, old *model.ModelBox) []string {
	stack := modelstackrender.ControllingStack(old)
	if stack == nil || render.Hash(box) != render.Hash(old) { // which the stack itself changes
		return nil
	}
	var names []string
	appliedFields(old).Difference(appliedFields(box)).Leaves().Iterate(func(path fieldpath.Path) {
		names = append(names, strings.TrimPrefix(path.String(), "."))
	})
	if len(names) == 0 {
		return nil
	}
	if more := len(names) - maxNamedFields; more > 0 {
		names = append(names[:maxNamedFields], fmt.Sprintf("%d more", more))
	}
	return []string{strings.Join(names, ", ") + ": " + warn.RevertedByStack(stack.Name)}
}

// appliedFields are the fields that the server has applied to a box and that no other client has changed since.
func appliedFields(box *model.ModelBox) *fieldpath.Set {
	for i := range box.ManagedFields {
		entry := &box.ManagedFields[i]
		if entry.Manager != render.FieldManager || entry.Operation != metav1.ManagedFieldsOperationApply || entry.FieldsV1 == nil {
			continue
		}
		applied := &fieldpath.Set{}
		if err := applied.FromJSON(entry.FieldsV1.GetRawReader()); err == nil {
			return applied
		}
	}
	return fieldpath.NewSet()
}
