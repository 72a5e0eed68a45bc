// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// unreleasedStorage returns the names of storage whose claims the controller is to release from the box, sorted. The last spec that
// has the storage decides what becomes of its claims. The controller may never see that spec, so what it says stays in the status
// until the controller has done it.
func unreleasedStorage(box, old *model.ModelBox) []string {
	names := sets.New(old.Status.UnreleasedStorage...)
	for i := range box.Spec.Storage {
		storage := &box.Spec.Storage[i]
		before := findStorage(&old.Spec, storage.Name)
		switch {
		case !ptr.Deref(storage.Retain, true):
			names.Delete(storage.Name)
		// A claim from before may be there of storage that is added.
		case before == nil, !ptr.Deref(before.Retain, true):
			names.Insert(storage.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return sets.List(names)
}
