// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelbox"
)

// validateBoxes holds the boxes of a stack to the rules of boxes. old is nil for a new stack.
func (s Strategy) validateBoxes(ctx context.Context, stack, old *model.ModelStack) field.ErrorList {
	changes, err := helper.BoxChanges(stack, old)
	if err != nil {
		return field.ErrorList{field.InternalError(field.NewPath("spec", "components"), err)}
	}
	validator := s.boxes.Validator()
	var errs field.ErrorList
	for _, change := range validate.Each(changes, &errs) {
		if err := ctx.Err(); err != nil {
			return field.ErrorList{field.InternalError(change.Path, fmt.Errorf("validating: %w", err))}
		}
		paths := validation.ModelBoxPaths{Name: change.Path.Child("boxName"), Spec: change.Path.Child("box")}
		if change.Old == nil {
			errs = append(errs, validator.Validate(ctx, change.Box, paths)...)
		} else {
			errs = append(errs, validator.ValidateUpdate(ctx, change.Box, change.Old, paths.Spec)...)
		}
	}
	if len(errs) == 0 {
		errs = validateConnectedSizes(validator, stack, old)
	}
	return errs
}

// validateConnectedSizes holds the boxes to the limit of their size with what connects them to other components. old is nil
// for a new stack.
func validateConnectedSizes(validator modelbox.SpecValidator, stack, old *model.ModelStack) field.ErrorList {
	changes, err := connectedChanges(stack, old)
	if err != nil {
		return field.ErrorList{field.InternalError(field.NewPath("spec", "components"), err)}
	}
	var errs field.ErrorList
	for _, change := range validate.Each(changes, &errs) {
		errs = append(errs, validator.ValidateSize(change.Box, change.Old, change.Path.Child("box"))...)
		errs = append(errs, validateConnectedRules(change.Box.Spec.NetworkPolicy, change.Path.Child("box", "networkPolicy"))...)
	}
	return errs
}

// validateConnectedRules limits the rules of the network policy of a box with the rules that an isolated stack adds.
func validateConnectedRules(policy *model.ModelBoxNetworkPolicy, path *field.Path) field.ErrorList {
	if policy == nil {
		return nil
	}
	var errs field.ErrorList
	if rules := len(policy.Ingress); rules > modelv1.MaxNetworkPolicyRules {
		errs = append(errs, field.TooMany(path.Child("ingress"), rules, modelv1.MaxNetworkPolicyRules))
	}
	if rules := len(policy.Egress); rules > modelv1.MaxNetworkPolicyRules {
		errs = append(errs, field.TooMany(path.Child("egress"), rules, modelv1.MaxNetworkPolicyRules))
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
