// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storagequota

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
)

// minManagedFieldsAllowance is what managed fields may take of any object before they count as growth.
const minManagedFieldsAllowance = 4 << 10

// size is how many bytes an object takes in the storage as the served kind, before it is compressed.
type size struct {
	// managedFields are the record of who wrote which field, and content is everything else.
	content, managedFields int
}

func sizeOf(object runtime.Object, kind schema.GroupVersionKind, o admission.ObjectInterfaces) (size, error) {
	served, err := o.GetObjectCreater().New(kind)
	if err != nil {
		return size{}, fmt.Errorf("creating a %s: %w", kind, err)
	}
	if err := o.GetObjectConvertor().Convert(object, served, nil); err != nil {
		return size{}, fmt.Errorf("converting to %s: %w", kind, err)
	}
	sized, ok := served.(sizedObject)
	if !ok {
		return size{}, fmt.Errorf("the size of a %T is not known", served)
	}
	total := sized.Size()
	sized.SetManagedFields(nil) // of the copy
	content := sized.Size()
	return size{content: content, managedFields: total - content}, nil
}

func (s size) total() int { return s.content + s.managedFields }

// growsFrom returns whether an object is larger than it was before. Managed fields grow when one user removes a part of what
// another user wrote, so they count only as far as they take more than the rest of the object.
func (s size) growsFrom(before size) bool {
	return s.content > before.content || s.excess() > before.excess()
}

// excess returns how much of the managed fields the content does not explain.
func (s size) excess() int {
	return max(0, s.managedFields-max(s.content, minManagedFieldsAllowance))
}
