// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"context"
	"slices"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	corevalidation "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/core/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// ValidateModelBoxName returns what is wrong with the name of a box, or with the start of a generated name if prefix
// is true. The Service of a box has its name, so it must be a DNS-1035 label; that also makes it a label value.
func ValidateModelBoxName(name string, prefix bool) []string {
	return apivalidation.NameIsDNS1035Label(name, prefix)
}

// ModelBoxPaths are where a box is in the object that is validated, be that the box or a stack that it is a component of.
type ModelBoxPaths struct {
	// Name is the path of the name of the box, Spec that of its spec.
	Name, Spec *field.Path
}

// ObjectPaths are those of a box that is an object of its own.
var ObjectPaths = ModelBoxPaths{Name: field.NewPath("metadata", "name"), Spec: field.NewPath("spec")}

// ValidateModelBox returns what is wrong with a box that is to be created.
func ValidateModelBox(ctx context.Context, box *model.ModelBox) field.ErrorList {
	return append(ValidateModelBoxMeta(box), ValidateModelBoxSpec(ctx, box, ObjectPaths)...)
}

// ValidateModelBoxMeta returns what is wrong with the metadata of a box that is to be created.
func ValidateModelBoxMeta(box *model.ModelBox) field.ErrorList {
	return slices.Concat(
		apivalidation.ValidateObjectMeta(&box.ObjectMeta, true, ValidateModelBoxName, field.NewPath("metadata")),
		corevalidation.ValidateFinalizerNames(box.Finalizers, field.NewPath("metadata", "finalizers")),
		validateAnnotations(box.Annotations, field.NewPath("metadata", "annotations")),
	)
}

// ValidateModelBoxSpec returns what is wrong with the spec of a box that is to be created, and with its name for a box of
// such a spec. The box has its defaults.
func ValidateModelBoxSpec(ctx context.Context, box *model.ModelBox, paths ModelBoxPaths) field.ErrorList {
	return slices.Concat(
		validateWorkloadName(box, paths.Name),
		withoutDefaultName(validateDeclaredSpec(ctx, &box.Spec, nil, paths.Spec), box, paths.Spec),
		validateSpec(ctx, box, paths.Spec),
	)
}

// withoutDefaultName leaves out what is wrong with a spec.name that is the name of the box, as it is by default: that
// is said of the name itself, which has the narrower format.
func withoutDefaultName(errs field.ErrorList, box *model.ModelBox, path *field.Path) field.ErrorList {
	name := path.Child("name").String()
	return slices.DeleteFunc(errs, func(err *field.Error) bool { return err.Field == name && box.Spec.Name == box.Name })
}

// ValidateModelBoxMetaUpdate returns what is wrong with changing the metadata of old into that of box.
func ValidateModelBoxMetaUpdate(box, old *model.ModelBox) field.ErrorList {
	return slices.Concat(
		apivalidation.ValidateObjectMetaUpdate(&box.ObjectMeta, &old.ObjectMeta, field.NewPath("metadata")),
		validateFinalizersUpdate(box.Finalizers, old.Finalizers, field.NewPath("metadata", "finalizers")),
		validateAnnotationsUpdate(box.Annotations, old.Annotations, field.NewPath("metadata", "annotations")),
	)
}

// ValidateModelBoxSpecUpdate returns what is wrong with changing the spec of old into that of box, which is at path. What
// was wrong already is not counted.
func ValidateModelBoxSpecUpdate(ctx context.Context, box, old *model.ModelBox, path *field.Path) field.ErrorList {
	return slices.Concat(
		validateDeclaredSpec(ctx, &box.Spec, &old.Spec, path),
		validateSpecUpdate(ctx, box, old, path),
		validateServiceUpdate(&box.Spec, &old.Spec, path),
		validateWorkloadUpdate(&box.Spec, &old.Spec, path),
		validateStorageUpdate(&box.Spec, &old.Spec, path),
	)
}

func validateSpecUpdate(ctx context.Context, box, old *model.ModelBox, path *field.Path) field.ErrorList {
	errs := validateSpec(ctx, box, path)
	if len(errs) == 0 {
		return nil
	}
	return ratchetSpec(path, box, old, errs, validateSpec(context.WithoutCancel(ctx), old, path))
}

// ratchetSpec is Ratchet for errors of the spec of a box, which is at path.
func ratchetSpec(path *field.Path, box, old *model.ModelBox, errs, oldErrs field.ErrorList) field.ErrorList {
	if len(errs) == 0 {
		return nil
	}
	var served, servedOld modelv1.ModelBoxSpec
	for _, convert := range []struct {
		spec   *model.ModelBoxSpec
		served *modelv1.ModelBoxSpec
	}{{&box.Spec, &served}, {&old.Spec, &servedOld}} {
		if err := modelv1.Convert_model_ModelBoxSpec_To_v1_ModelBoxSpec(convert.spec, convert.served, nil); err != nil {
			return field.ErrorList{field.InternalError(path, err)}
		}
	}
	return Ratchet(path, &served, &servedOld, errs, oldErrs)
}

func validateSpec(ctx context.Context, box *model.ModelBox, path *field.Path) field.ErrorList {
	spec := &box.Spec
	pod := podContextOfBox(spec)
	return validate.UntilMaxErrors(ctx, path,
		func() field.ErrorList { return validateMainContainer(spec, pod, path) },
		func() field.ErrorList { return validateRollout(spec, path) },
		func() field.ErrorList { return validateService(spec, path) },
		func() field.ErrorList { return validateChildMeta(spec, path) },
		func() field.ErrorList {
			return corevalidation.ValidateContainers(spec.Containers, pod, path.Child("containers"))
		},
		func() field.ErrorList {
			return corevalidation.ValidateInitContainers(spec.InitContainers, pod, path.Child("initContainers"))
		},
		func() field.ErrorList { return validateContainerNames(spec, path) },
		func() field.ErrorList {
			return corevalidation.ValidateContainerPortNames(spec.Containers, spec.InitContainers, path)
		},
		func() field.ErrorList { return validateConfigs(spec, box.Name, path) },
		func() field.ErrorList { return corevalidation.ValidateVolumes(spec.Volumes, path.Child("volumes")) },
		func() field.ErrorList { return validateStorage(spec, path) },
		func() field.ErrorList { return validateIngress(spec, path) },
		func() field.ErrorList { return validateRoute(spec, path) },
		func() field.ErrorList { return validateAutoscaling(spec, path) },
		func() field.ErrorList { return validateDisruptionBudget(spec, path) },
		func() field.ErrorList { return validateNetworks(spec, path) },
		func() field.ErrorList { return validateIgnoreDrift(spec, path) },
		func() field.ErrorList {
			return corevalidation.ValidateImagePullSecrets(spec.ImagePullSecrets, path.Child("imagePullSecrets"))
		},
		func() field.ErrorList { return validateOverlay(spec.PodTemplate, box.Name, path.Child("podTemplate")) },
		func() field.ErrorList { return validateOverlayContainers(spec, path) },
	)
}
