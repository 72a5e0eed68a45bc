// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package boxwrites tells the admission plugins which boxes a request writes.
package boxwrites

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
)

// Write is a box that a request writes.
type Write struct {
	// Old is nil for a new box.
	Box, Old *model.ModelBox
	// Spec is where the spec of the box is in the object of the request.
	Spec *field.Path
}

// Of returns the boxes that a request writes: the object, or the boxes of the components of a stack that the request creates or
// changes. A request for a subresource or for another kind writes none.
func Of(a admission.Attributes) ([]Write, error) {
	if a.GetSubresource() != "" {
		return nil, nil
	}
	switch a.GetResource().GroupResource() {
	case model.Resource("modelboxes"):
		box, ok := a.GetObject().(*model.ModelBox)
		if !ok {
			return nil, fmt.Errorf("expected a ModelBox, got %T", a.GetObject())
		}
		old, _ := a.GetOldObject().(*model.ModelBox)
		return []Write{{box, old, field.NewPath("spec")}}, nil
	case model.Resource("modelstacks"):
		stack, ok := a.GetObject().(*model.ModelStack)
		if !ok {
			return nil, fmt.Errorf("expected a ModelStack, got %T", a.GetObject())
		}
		old, _ := a.GetOldObject().(*model.ModelStack)
		changes, err := helper.BoxChanges(stack, old)
		if err != nil {
			return nil, err
		}
		writes := make([]Write, len(changes))
		for i, change := range changes {
			writes[i] = Write{change.Box, change.Old, change.Path.Child("box")}
		}
		return writes, nil
	default:
		return nil, nil
	}
}
