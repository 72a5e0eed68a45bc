// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/boxview"
)

// SpecValidator validates the specs of boxes, be they objects or components of stacks. The lists of a box, its maps and its
// strings are within their limits already.
type SpecValidator struct {
	// NodePortRange is what the cluster gives out, empty where that is not known.
	NodePortRange utilnet.PortRange
	// NoPrometheus says that there is nothing that the checks of boxes could query.
	NoPrometheus bool
	// WatchesSecrets says that a change of a Secret restarts the boxes that refer to it.
	WatchesSecrets bool
}

// Validate returns what is wrong with a new box at the paths, first of all whether the other rules can afford to look at it.
func (v SpecValidator) Validate(ctx context.Context, box *model.ModelBox, paths validation.ModelBoxPaths) field.ErrorList {
	errs := v.ValidateSize(box, nil, paths.Spec)
	if len(errs) == 0 {
		errs = slices.Concat(
			validation.ValidateModelBoxSpec(ctx, box, paths),
			validation.ValidateNodePortRange(box, v.NodePortRange, paths.Spec),
			validation.ValidateNoDirectives(box, paths.Spec),
			v.validateChecks(box, nil, paths.Spec),
		)
	}
	if len(errs) == 0 {
		_, errs = validatePodTemplate(ctx, box, paths.Spec)
	}
	if len(errs) == 0 {
		errs = validateUtilization(ctx, box, paths.Spec)
	}
	return errs
}

// ValidateUpdate validates an update of the spec of old to the spec of box, which is at path. It ignores errors that old has as
// well.
func (v SpecValidator) ValidateUpdate(ctx context.Context, box, old *model.ModelBox, path *field.Path) field.ErrorList {
	errs := v.ValidateSize(box, old, path)
	if len(errs) == 0 {
		errs = slices.Concat(
			validation.ValidateModelBoxSpecUpdate(ctx, box, old, path),
			validation.ValidateNodePortRangeUpdate(box, old, v.NodePortRange, path),
			validation.ValidateNoDirectivesUpdate(box, old, path),
			v.validateChecks(box, old, path),
		)
	}
	if len(errs) == 0 && !apiequality.Semantic.DeepEqual(box.Spec, old.Spec) {
		errs = append(validatePodTemplateUpdate(ctx, box, old, path), validateUtilizationUpdate(ctx, box, old, path)...)
	}
	return errs
}

// maxSpecBytes lets the record of every box fit into the annotations of its workload, of which Kubernetes takes 256 KiB.
// Base64 makes a spec that cannot be compressed a third larger, to 128 KiB, and its annotations are there once more, at
// most 96 KiB: 224 KiB. 16 KiB are left for annotations that are not of the box, see package render, and 16 KiB for the
// box's identity, which takes less than one, and its metadata, of which that is left out which does not fit.
const maxSpecBytes = 96 << 10

// ValidateSize refuses the spec of the box, which is at path, if it is too much. One that was too much already may stay, but not grow; old is nil for a new
// box.
func (v SpecValidator) ValidateSize(box, old *model.ModelBox, path *field.Path) field.ErrorList {
	size, err := specBytes(box)
	if err == nil && size > maxSpecBytes && old != nil {
		var oldSize int
		if oldSize, err = specBytes(old); size <= oldSize {
			size = 0
		}
	}
	switch {
	case err != nil:
		return field.ErrorList{field.InternalError(path, err)}
	case size > maxSpecBytes:
		return sizeErrors(box, path)
	default:
		return nil
	}
}

// sizeErrors says what of a spec that is too large has to shrink: its configs where the rest is small enough.
func sizeErrors(box *model.ModelBox, path *field.Path) field.ErrorList {
	rest := *box
	rest.Spec.Configs = nil
	restSize, err := specBytes(&rest)
	switch {
	case err != nil:
		return field.ErrorList{field.InternalError(path, err)}
	case len(box.Spec.Configs) > 0 && restSize < maxSpecBytes:
		return field.ErrorList{field.TooLong(path.Child("configs"), field.OmitValueType{}, maxSpecBytes-restSize)}
	default:
		return field.ErrorList{field.TooLong(path, field.OmitValueType{}, maxSpecBytes)}
	}
}

// specBytes returns the size of the spec as it is stored, but for what changes when a box is scaled or paused.
func specBytes(box *model.ModelBox) (int, error) {
	served, err := boxview.V1(box)
	if err != nil {
		return 0, err
	}
	served.Spec.Replicas, served.Spec.Paused = nil, false
	return served.Spec.Size(), nil
}

// validatePodTemplate checks the pod template that the overlay of a valid box makes, and returns it, or the overlay if it
// makes none. The spec of the box is at path.
func validatePodTemplate(ctx context.Context, box *model.ModelBox, path *field.Path) (*corev1.PodTemplateSpec, field.ErrorList) {
	overlay := box.Spec.PodTemplate
	if overlay == nil {
		return nil, nil
	}
	path = path.Child("podTemplate")
	template, err := boxview.PodTemplate(ctx, box)
	if err != nil {
		return overlay, field.ErrorList{field.Invalid(path, field.OmitValueType{}, err.Error())}
	}
	return template, validation.ValidatePodTemplate(ctx, template, box, path)
}

// validatePodTemplateUpdate validates the pod template of a changed box. It ignores unchanged fields that were invalid in the old
// box already.
func validatePodTemplateUpdate(ctx context.Context, box, old *model.ModelBox, path *field.Path) field.ErrorList {
	template, errs := validatePodTemplate(ctx, box, path)
	if len(errs) == 0 {
		return nil
	}
	oldTemplate, oldErrs := validatePodTemplate(context.WithoutCancel(ctx), old, path)
	return validation.Ratchet(path.Child("podTemplate"), template, oldTemplate, errs, oldErrs)
}
