// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"context"
	"fmt"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

func componentPath(i int) *field.Path {
	return field.NewPath("spec", "components").Index(i)
}

// boxComponents returns the components of a stack that have a box, by its name. There are none in a stack that is nil.
func boxComponents(stack *model.ModelStack) map[string]*model.ModelStackComponent {
	components := map[string]*model.ModelStackComponent{}
	if stack == nil {
		return components
	}
	for i := range stack.Spec.Components {
		if component := &stack.Spec.Components[i]; component.Box != nil {
			components[component.BoxName] = component
		}
	}
	return components
}

// validateBoxes holds the boxes of a stack to the rules of boxes. One that the stack had already, under whatever component, is
// an update of that; one that did not change is fine as it is. old is nil for a new stack.
func (s Strategy) validateBoxes(ctx context.Context, stack, old *model.ModelStack) field.ErrorList {
	oldComponents := boxComponents(old)
	var errs field.ErrorList
	for i := range validate.Each(stack.Spec.Components, &errs) {
		component, oldComponent := &stack.Spec.Components[i], oldComponents[stack.Spec.Components[i].BoxName]
		if component.Box == nil || oldComponent != nil && apiequality.Semantic.DeepEqual(component.Box, oldComponent.Box) {
			continue
		}
		path := componentPath(i)
		if err := ctx.Err(); err != nil {
			return field.ErrorList{field.InternalError(path, fmt.Errorf("validating: %w", err))}
		}
		box, err := helper.ComponentBox(stack, component)
		if err != nil {
			return field.ErrorList{field.InternalError(path, err)}
		}
		if oldComponent == nil {
			paths := validation.ModelBoxPaths{Name: path.Child("boxName"), Spec: path.Child("box")}
			errs = append(errs, s.boxes.Validator().Validate(ctx, box, paths)...)
			continue
		}
		oldBox, err := helper.ComponentBox(old, oldComponent)
		if err != nil {
			return field.ErrorList{field.InternalError(path, err)}
		}
		errs = append(errs, s.boxes.Validator().ValidateUpdate(ctx, box, oldBox, path.Child("box"))...)
	}
	return errs
}

// maxSpecBytes lets a stack fit into one request to etcd, of 1.5 MiB, with its managed fields, which know each of its fields,
// and its annotations, which are at most 256 KiB; and its record into an object of the cluster, where base64 makes it a third
// larger.
const maxSpecBytes = 512 << 10

// validateSize refuses a spec that is too much. One that was too much already may stay, but not grow; old is nil for a new
// stack.
func validateSize(stack, old *model.ModelStack) field.ErrorList {
	path := field.NewPath("spec")
	size, err := specBytes(stack)
	if err != nil {
		return field.ErrorList{field.InternalError(path, err)}
	}
	if size > maxSpecBytes && old != nil {
		oldSize, err := specBytes(old)
		if err != nil {
			return field.ErrorList{field.InternalError(path, err)}
		}
		if size <= oldSize {
			return nil
		}
	}
	if size > maxSpecBytes {
		return field.ErrorList{field.TooLong(path, field.OmitValueType{}, maxSpecBytes)}
	}
	return nil
}

// specBytes returns the size of the spec as it is stored.
func specBytes(stack *model.ModelStack) (int, error) {
	served := &modelv1.ModelStackSpec{}
	if err := modelv1.Convert_model_ModelStackSpec_To_v1_ModelStackSpec(&stack.Spec, served, nil); err != nil {
		return 0, err
	}
	return served.Size(), nil
}
