// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	corevalidation "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/core/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
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

func validateDeclaredSpec(ctx context.Context, spec, old *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	return validateDeclared(ctx, spec, old, modelv1.Convert_model_ModelBoxSpec_To_v1_ModelBoxSpec, modelv1.Validate_ModelBoxSpec, path)
}

func validateDeclaredStatus(ctx context.Context, status, old *model.ModelBoxStatus, path *field.Path) field.ErrorList {
	return validateDeclared(ctx, status, old, modelv1.Convert_model_ModelBoxStatus_To_v1_ModelBoxStatus, modelv1.Validate_ModelBoxStatus, path)
}

// ValidateModelBoxStatusUpdate returns what is wrong with changing the status of old into that of box. The spec is
// not looked at: the status of every box that exists can be written.
func ValidateModelBoxStatusUpdate(ctx context.Context, box, old *model.ModelBox) field.ErrorList {
	return slices.Concat(
		apivalidation.ValidateObjectMetaUpdate(&box.ObjectMeta, &old.ObjectMeta, field.NewPath("metadata")),
		validateDeclaredStatus(ctx, &box.Status, &old.Status, field.NewPath("status")),
		metav1validation.ValidateConditions(box.Status.Conditions, field.NewPath("status", "conditions")),
	)
}

// validateMainContainer validates the container whose fields are those of the box itself. Its ports are not among them:
// they are derived, and only named by its probes.
func validateMainContainer(spec *model.ModelBoxSpec, pod corevalidation.PodContext, path *field.Path) field.ErrorList {
	container := &corev1.Container{
		Name:           spec.Name,
		Image:          spec.Image,
		EnvFrom:        spec.EnvFrom,
		ReadinessProbe: spec.ReadinessProbe,
		LivenessProbe:  spec.LivenessProbe,
		StartupProbe:   spec.StartupProbe,
		VolumeMounts:   spec.VolumeMounts,
	}
	errs := validateResourceType(spec, path.Child("resources"))
	if spec.Resources != nil && len(errs) == 0 {
		container.Resources = *spec.Resources
	}
	return slices.Concat(errs,
		corevalidation.ValidateContainer(container, pod, path),
		corevalidation.ValidateEnv(spec.Envs, pod, path.Child("envs")),
	)
}

// validateResourceType refuses resources of the main container where its size says what they are.
func validateResourceType(spec *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	if spec.Resources == nil {
		return nil
	}
	switch spec.ResourceType {
	case model.ResourceTypeSmall, model.ResourceTypeMedium, model.ResourceTypeLarge:
		return field.ErrorList{field.Forbidden(path, mustBeCustomResourceType(spec.ResourceType))}
	}
	return nil
}

// validateContainerNames requires one name for each container of the pod, init containers and the main container
// included.
func validateContainerNames(spec *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	names := validate.Unique[string]{}
	return slices.Concat(
		names.Add(spec.Name, path.Child("name")),
		corevalidation.ValidateContainerNames(spec.Containers, names, path.Child("containers")),
		corevalidation.ValidateContainerNames(spec.InitContainers, names, path.Child("initContainers")),
	)
}

// mainContainerPorts are the ports that the main container declares without the overlay's doing.
func mainContainerPorts(spec *model.ModelBoxSpec) []corev1.ContainerPort {
	beside := helper.ContainersBeside(spec.Name, spec.Containers, spec.InitContainers, spec.PodTemplate)
	return helper.MainContainerPorts(spec.Ports, beside)
}

// podContextOfBox is that of the pods of a box as far as it is known before the overlay is merged.
func podContextOfBox(spec *model.ModelBoxSpec) corevalidation.PodContext {
	var pod corev1.PodSpec
	if spec.PodTemplate != nil {
		pod = spec.PodTemplate.Spec
	}
	volumes := slices.Concat(spec.Volumes, configVolumes(spec), storageVolumes(spec))
	overlaid := slices.DeleteFunc(slices.Clone(pod.Volumes), func(volume corev1.Volume) bool {
		return volume.VolumeSource == corev1.VolumeSource{} && hasVolume(volumes, volume.Name)
	})
	pod.Volumes = slices.Concat(volumes, overlaid)
	pod.Containers = append(slices.Clip(pod.Containers), corev1.Container{Name: spec.Name, Ports: mainContainerPorts(spec)})
	return corevalidation.NewPodContext(&pod)
}

func hasVolume(volumes []corev1.Volume, name string) bool {
	return slices.ContainsFunc(volumes, func(volume corev1.Volume) bool { return volume.Name == name })
}
