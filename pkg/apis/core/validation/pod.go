// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// plainFinalizers are those that need no domain.
var plainFinalizers = []string{metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents, string(corev1.FinalizerKubernetes)}

// ValidatePodTemplateSpec returns what is wrong with the pod template of a Deployment: what the API would refuse of the
// Deployment or of its pods. It stops when ctx is done, and says so.
func ValidatePodTemplateSpec(ctx context.Context, template *corev1.PodTemplateSpec, path *field.Path) field.ErrorList {
	meta := path.Child("metadata")
	return validate.UntilMaxErrors(ctx, path,
		func() field.ErrorList { return metav1validation.ValidateLabels(template.Labels, meta.Child("labels")) },
		func() field.ErrorList {
			return apivalidation.ValidateAnnotations(template.Annotations, meta.Child("annotations"))
		},
		func() field.ErrorList { return ValidatePodSpecificAnnotations(template, meta.Child("annotations")) },
		func() field.ErrorList { return validateFinalizers(template.Finalizers, meta.Child("finalizers")) },
		func() field.ErrorList { return ValidatePodSpec(ctx, &template.Spec, path.Child("spec")) },
	)
}

// validateFinalizers validates the finalizers that each pod is made with.
func validateFinalizers(finalizers []string, path *field.Path) field.ErrorList {
	errs := apivalidation.ValidateFinalizers(finalizers, path)
	names := validate.Unique[string]{}
	for i, finalizer := range validate.Each(finalizers, &errs) {
		errs = append(errs, names.Add(finalizer, path.Index(i))...)
	}
	return append(errs, ValidateFinalizerNames(finalizers, path)...)
}

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
		func() field.ErrorList { return validateEvictionResponders(spec, path) },
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

// validatePodLifetime requires pods that run until they are stopped, because a Deployment has no other pods.
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

// PodContext is what the rules for a container ask about its pod.
type PodContext struct {
	volumes volumeSources
	// claims are the names of the pod's resource claims.
	claims sets.Set[string]
	// ports are the names of the ports of each container.
	ports       map[string]sets.Set[string]
	gracePeriod int64
	os          corev1.OSName
	hostNetwork bool
	// userNamespace is true for a pod in a user namespace: one whose hostUsers is false.
	userNamespace bool
}

// NewPodContext returns the context of the containers of a pod.
func NewPodContext(spec *corev1.PodSpec) PodContext {
	pod := PodContext{
		volumes:       volumesByName(spec.Volumes),
		claims:        sets.New[string](),
		ports:         map[string]sets.Set[string]{},
		gracePeriod:   corev1.DefaultTerminationGracePeriodSeconds,
		hostNetwork:   spec.HostNetwork,
		userNamespace: spec.HostUsers != nil && !*spec.HostUsers,
	}
	for i := range spec.ResourceClaims {
		pod.claims.Insert(spec.ResourceClaims[i].Name)
	}
	pod.claims.Delete("")
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			pod.ports[containers[i].Name] = addPortNames(pod.ports[containers[i].Name], containers[i].Ports)
		}
	}
	if seconds := spec.TerminationGracePeriodSeconds; seconds != nil && *seconds >= 0 {
		pod.gracePeriod = *seconds
	}
	if spec.OS != nil {
		pod.os = spec.OS.Name
	}
	return pod
}

// handlers are the rules for the probes and hooks of one of the pod's containers.
func (p PodContext) handlers(container *corev1.Container) handlerContext {
	return handlerContext{
		ports:       addPortNames(p.ports[container.Name], container.Ports),
		gracePeriod: p.gracePeriod,
		os:          p.os,
	}
}

func isTrue(value *bool) bool {
	return value != nil && *value
}

// ValidateFinalizerNames applies the rules of Kubernetes for finalizers of its own kinds, in addition to the rules for the
// finalizers of all kinds.
func ValidateFinalizerNames(finalizers []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, finalizer := range validate.Each(finalizers, &errs) {
		if !strings.Contains(finalizer, "/") && !slices.Contains(plainFinalizers, finalizer) {
			errs = append(errs, field.Invalid(path.Index(i), finalizer, `must have a domain, such as "example.com/finalizer"`))
		}
	}
	return errs
}
