// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package validation validates the objects of the API. It accepts a box if the cluster accepts the children of the box.
//
// Fields that a box passes on to its pods and its Service have the rules of package core/validation. The package validates objects
// in the internal version, with the defaults of the served version.
//
// Rules that a tag can express, such as +k8s:minimum=0, are tags of the served type. This package has all other rules.
//
// A box is validated in two steps. ValidateModelBox validates its fields, and ValidatePodTemplate validates the pod template with
// spec.podTemplate, the overlay of the box, merged in.
//
// An update is refused for the fields that it changes only: see Ratchet. A user can still scale, pause, label, repair field by
// field, and delete a box that an earlier release accepted.
package validation

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	corevalidation "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/core/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// ValidateModelBoxName validates the name of a box, or the prefix of a generated name if prefix is true. The Service of the box has
// the same name, so it must be a DNS-1035 label. Such a label is also a valid value of a label.
func ValidateModelBoxName(name string, prefix bool) []string {
	return apivalidation.NameIsDNS1035Label(name, prefix)
}

// ModelBoxPaths are the paths of a box in the object that is validated: the box itself, or a stack with the box as a component.
type ModelBoxPaths struct {
	// Name is the path of the name of the box, and Spec is the path of its spec.
	Name, Spec *field.Path
}

// ObjectPaths are the paths of a box that is not a component of a stack.
var ObjectPaths = ModelBoxPaths{Name: field.NewPath("metadata", "name"), Spec: field.NewPath("spec")}

// ValidateModelBox validates a new box.
func ValidateModelBox(ctx context.Context, box *model.ModelBox) field.ErrorList {
	return append(ValidateModelBoxMeta(box), ValidateModelBoxSpec(ctx, box, ObjectPaths)...)
}

// ValidateModelBoxMeta validates the metadata of a new box.
func ValidateModelBoxMeta(box *model.ModelBox) field.ErrorList {
	return slices.Concat(
		apivalidation.ValidateObjectMeta(&box.ObjectMeta, true, ValidateModelBoxName, field.NewPath("metadata")),
		corevalidation.ValidateFinalizerNames(box.Finalizers, field.NewPath("metadata", "finalizers")),
		validateAnnotations(box.Annotations, field.NewPath("metadata", "annotations")),
	)
}

// ValidateModelBoxSpec validates the spec of a new box, and the rules for its name that depend on the spec. The box has its
// defaults.
func ValidateModelBoxSpec(ctx context.Context, box *model.ModelBox, paths ModelBoxPaths) field.ErrorList {
	return slices.Concat(
		validateWorkloadName(box, paths.Name),
		withoutDefaultName(validateDeclaredSpec(ctx, &box.Spec, nil, paths.Spec), box, paths.Spec),
		validateSpec(ctx, box, paths.Spec),
	)
}

// withoutDefaultName leaves out errors of a spec.name that is the name of the box, which is its default. The name of the box has a
// stricter format, so that it has an error as well.
func withoutDefaultName(errs field.ErrorList, box *model.ModelBox, path *field.Path) field.ErrorList {
	name := path.Child("name").String()
	return slices.DeleteFunc(errs, func(err *field.Error) bool { return err.Field == name && box.Spec.Name == box.Name })
}

// ValidateModelBoxMetaUpdate validates an update of the metadata of old to the metadata of box.
func ValidateModelBoxMetaUpdate(box, old *model.ModelBox) field.ErrorList {
	return slices.Concat(
		apivalidation.ValidateObjectMetaUpdate(&box.ObjectMeta, &old.ObjectMeta, field.NewPath("metadata")),
		validateFinalizersUpdate(box.Finalizers, old.Finalizers, field.NewPath("metadata", "finalizers")),
		validateAnnotationsUpdate(box.Annotations, old.Annotations, field.NewPath("metadata", "annotations")),
	)
}

// ValidateModelBoxSpecUpdate validates an update of the spec of old to the spec of box, which is at path. An error that old has as
// well is left out.
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
		func() field.ErrorList { return validateJSONForm(spec, path) },
		func() field.ErrorList { return validateMainContainer(spec, pod, path) },
		func() field.ErrorList { return validateRollout(spec, path) },
		func() field.ErrorList { return validateRolloutSteps(box, path.Child("rollout")) },
		func() field.ErrorList { return validateJobs(spec, pod, path) },
		func() field.ErrorList { return validateBatch(box, path) },
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
		func() field.ErrorList { return validateGRPCRoute(spec, path) },
		func() field.ErrorList { return validateAutoscaling(spec, path) },
		func() field.ErrorList { return validateDisruptionBudget(spec, path) },
		func() field.ErrorList { return validateNetworkPolicy(spec.NetworkPolicy, path.Child("networkPolicy")) },
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

// ValidateModelBoxStatusUpdate validates an update of the status. It does not validate the spec, so that the controller can write
// the status of every box.
func ValidateModelBoxStatusUpdate(ctx context.Context, box, old *model.ModelBox) field.ErrorList {
	return slices.Concat(
		apivalidation.ValidateObjectMetaUpdate(&box.ObjectMeta, &old.ObjectMeta, field.NewPath("metadata")),
		validateDeclaredStatus(ctx, &box.Status, &old.Status, field.NewPath("status")),
		metav1validation.ValidateConditions(box.Status.Conditions, field.NewPath("status", "conditions")),
	)
}

// validateMainContainer validates the container whose fields are fields of the box. It does not validate the ports of the
// container, which are derived from the ports of the box and its probes.
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

// validateResourceType refuses resources of the main container if its resourceType sets them.
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

// validateContainerNames requires that the containers of the pod, including the init containers and the main container, have
// different names.
func validateContainerNames(spec *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	names := validate.Unique[string]{}
	return slices.Concat(
		names.Add(spec.Name, path.Child("name")),
		corevalidation.ValidateContainerNames(spec.Containers, names, path.Child("containers")),
		corevalidation.ValidateContainerNames(spec.InitContainers, names, path.Child("initContainers")),
	)
}

// mainContainerPorts returns the ports that the main container declares before podTemplate is merged.
func mainContainerPorts(spec *model.ModelBoxSpec) []corev1.ContainerPort {
	beside := helper.ContainersBeside(spec.Name, spec.Containers, spec.InitContainers, spec.PodTemplate)
	return helper.MainContainerPorts(spec.Ports, beside)
}

// podContextOfBox returns the context of the pods of a box before podTemplate is merged.
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

func validateNetworkPolicy(policy *model.ModelBoxNetworkPolicy, path *field.Path) field.ErrorList {
	if policy == nil {
		return nil
	}
	return corevalidation.ValidateNetworkPolicySpec(&networkingv1.NetworkPolicySpec{
		PolicyTypes: policy.PolicyTypes,
		Ingress:     policy.Ingress,
		Egress:      policy.Egress,
	}, path)
}
