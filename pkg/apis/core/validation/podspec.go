// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

var preemptionPolicies = []corev1.PreemptionPolicy{corev1.PreemptLowerPriority, corev1.PreemptNever}

// ValidatePodSpec returns what is wrong with the spec of the pods of a Deployment.
func ValidatePodSpec(ctx context.Context, spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	pod, names := NewPodContext(spec), validate.Unique[string]{}
	return validate.UntilMaxErrors(ctx, path,
		func() field.ErrorList { return ValidateVolumes(spec.Volumes, path.Child("volumes")) },
		func() field.ErrorList {
			return ValidateContainerNames(spec.Containers, names, path.Child("containers"))
		},
		func() field.ErrorList {
			return ValidateContainerNames(spec.InitContainers, names, path.Child("initContainers"))
		},
		func() field.ErrorList { return ValidateContainerPortNames(spec.Containers, spec.InitContainers, path) },
		func() field.ErrorList { return validateSomeContainer(spec.Containers, path.Child("containers")) },
		func() field.ErrorList { return ValidateContainers(spec.Containers, pod, path.Child("containers")) },
		func() field.ErrorList {
			return ValidateInitContainers(spec.InitContainers, pod, path.Child("initContainers"))
		},
		func() field.ErrorList { return validatePodLifetime(spec, path) },
		func() field.ErrorList { return validatePodResources(spec, path) },
		func() field.ErrorList {
			return validatePodResourceClaims(spec.ResourceClaims, path.Child("resourceClaims"))
		},
		func() field.ErrorList { return validateServiceAccount(spec, path) },
		func() field.ErrorList {
			return ValidateImagePullSecrets(spec.ImagePullSecrets, path.Child("imagePullSecrets"))
		},
		func() field.ErrorList { return validatePodSecurityContext(spec, pod, path.Child("securityContext")) },
		func() field.ErrorList { return validateHostNamespaces(spec, path) },
		func() field.ErrorList { return validateWindowsHostProcesses(spec, path) },
		func() field.ErrorList { return validateOS(spec, path) },
		func() field.ErrorList { return validateHostnames(spec, path) },
		func() field.ErrorList { return validateHostAliases(spec.HostAliases, path.Child("hostAliases")) },
		func() field.ErrorList { return validatePodDNSConfig(spec, path) },
		func() field.ErrorList { return validateScheduling(spec, path) },
		func() field.ErrorList { return validateRuntimeClass(spec, path) },
		func() field.ErrorList {
			return validateReadinessGates(spec.ReadinessGates, path.Child("readinessGates"))
		},
	)
}

func validateSomeContainer(containers []corev1.Container, path *field.Path) field.ErrorList {
	if len(containers) > 0 {
		return nil
	}
	return field.ErrorList{field.Required(path, "must have a container")}
}

// validatePodLifetime requires pods that run until they are told to end: a Deployment has no others.
func validatePodLifetime(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	errs := validate.OptionalEnum(spec.RestartPolicy, []corev1.RestartPolicy{corev1.RestartPolicyAlways}, path.Child("restartPolicy"))
	if seconds := spec.TerminationGracePeriodSeconds; seconds != nil {
		errs = append(errs, apivalidation.ValidateNonnegativeField(int64(*seconds), path.Child("terminationGracePeriodSeconds"))...)
	}
	if spec.ActiveDeadlineSeconds != nil {
		errs = append(errs, field.Forbidden(path.Child("activeDeadlineSeconds"), "the pods of a Deployment have no deadline"))
	}
	if len(spec.EphemeralContainers) > 0 {
		errs = append(errs, field.Forbidden(path.Child("ephemeralContainers"), "may only be added to a pod that runs"))
	}
	if len(spec.EvictionResponders) > 0 {
		errs = append(errs, field.Forbidden(path.Child("evictionResponders"), "is not known to Kubernetes "+Version))
	}
	return errs
}

// validateServiceAccount refuses a deprecated serviceAccount that serviceAccountName overrules.
func validateServiceAccount(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	deprecated, deprecatedPath := spec.DeprecatedServiceAccount, path.Child("serviceAccount")
	if spec.ServiceAccountName == "" {
		return validate.OptionalName(deprecated, deprecatedPath)
	}
	errs := validate.OptionalName(spec.ServiceAccountName, path.Child("serviceAccountName"))
	if deprecated != "" && deprecated != spec.ServiceAccountName {
		detail := fmt.Sprintf("must be left out or %q, as serviceAccountName", spec.ServiceAccountName)
		errs = append(errs, field.Invalid(deprecatedPath, deprecated, detail))
	}
	return errs
}

// validateScheduling validates what says where and when the pods run.
func validateScheduling(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	errs := slices.Concat(
		metav1validation.ValidateLabels(spec.NodeSelector, path.Child("nodeSelector")),
		validate.OptionalName(spec.NodeName, path.Child("nodeName")),
		validateAffinity(spec.Affinity, path.Child("affinity")),
		validateTolerations(spec.Tolerations, path.Child("tolerations")),
		validateTopologySpreadConstraints(spec.TopologySpreadConstraints, path.Child("topologySpreadConstraints")),
		validateSchedulingGates(spec, path),
		validateSchedulingGroup(spec.SchedulingGroup, path.Child("schedulingGroup")),
		validate.OptionalName(spec.PriorityClassName, path.Child("priorityClassName")),
	)
	errs = append(errs, validate.EnumPointer(spec.PreemptionPolicy, preemptionPolicies, path.Child("preemptionPolicy"))...)
	return errs
}

// validateSchedulingGates refuses gates for pods that are on their node already.
func validateSchedulingGates(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := validate.Unique[string]{}
	for i := range validate.Each(spec.SchedulingGates, &errs) {
		name, namePath := spec.SchedulingGates[i].Name, path.Child("schedulingGates").Index(i).Child("name")
		errs = append(errs, validate.Format(name, content.IsLabelKey, namePath)...)
		errs = append(errs, names.Add(name, namePath)...)
	}
	if spec.NodeName != "" && len(spec.SchedulingGates) > 0 {
		errs = append(errs, field.Forbidden(path.Child("nodeName"), "may not be given together with schedulingGates"))
	}
	return errs
}

// validateSchedulingGroup validates the group as clusters do that know it: it is an alpha feature.
func validateSchedulingGroup(group *corev1.PodSchedulingGroup, path *field.Path) field.ErrorList {
	if group == nil {
		return nil
	}
	path = path.Child("podGroupName")
	if group.PodGroupName == nil {
		return field.ErrorList{field.Required(path, "must name a PodGroup")}
	}
	return validate.Format(*group.PodGroupName, validation.IsDNS1123Subdomain, path)
}

// validateRuntimeClass refuses an overhead without a class as the admission of pods does: a Deployment takes it.
func validateRuntimeClass(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	overhead := path.Child("overhead")
	errs := slices.Concat(
		validateResourceList(spec.Overhead, overhead),
		validateHugePagesNeedCPUOrMemory(&corev1.ResourceRequirements{Limits: spec.Overhead}, overhead),
	)
	if spec.RuntimeClassName != nil {
		errs = append(errs, validate.Format(*spec.RuntimeClassName, validation.IsDNS1123Subdomain, path.Child("runtimeClassName"))...)
	} else if len(spec.Overhead) > 0 {
		errs = append(errs, field.Forbidden(overhead, "may only be given together with runtimeClassName"))
	}
	return errs
}

func validateReadinessGates(gates []corev1.PodReadinessGate, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range validate.Each(gates, &errs) {
		errs = append(errs, validate.Format(string(gates[i].ConditionType), content.IsLabelKey, path.Index(i).Child("conditionType"))...)
	}
	return errs
}

// ValidateImagePullSecrets requires names of Secrets, each once.
func ValidateImagePullSecrets(secrets []corev1.LocalObjectReference, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := validate.Unique[string]{}
	for i := range validate.Each(secrets, &errs) {
		name, namePath := secrets[i].Name, path.Index(i).Child("name")
		errs = append(errs, validate.Format(name, validation.IsDNS1123Subdomain, namePath)...)
		errs = append(errs, names.Add(name, namePath)...)
	}
	return errs
}
