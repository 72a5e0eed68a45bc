// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/distribution/reference"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

var (
	pullPolicies               = []corev1.PullPolicy{corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever}
	terminationMessagePolicies = []corev1.TerminationMessagePolicy{
		corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError,
	}
)

const (
	maxRestartPolicyRules = 20
	maxExitCodes          = 255
)

var (
	restartPolicies = []corev1.ContainerRestartPolicy{
		corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicyNever, corev1.ContainerRestartPolicyOnFailure,
	}
	restartRuleActions = []corev1.ContainerRestartRuleAction{
		corev1.ContainerRestartRuleActionRestart, corev1.ContainerRestartRuleActionRestartAllContainers,
	}
	exitCodeOperators = []corev1.ContainerRestartRuleOnExitCodesOperator{
		corev1.ContainerRestartRuleOnExitCodesOpIn, corev1.ContainerRestartRuleOnExitCodesOpNotIn,
	}
	resizableResources    = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}
	resizeRestartPolicies = []corev1.ResourceResizeRestartPolicy{corev1.NotRequired, corev1.RestartContainer}
)

// ValidateContainer returns what is wrong with a container that runs as long as its pod does, but for its name.
func ValidateContainer(container *corev1.Container, pod PodContext, path *field.Path) field.ErrorList {
	return slices.Concat(validateContainerCommon(container, pod, path), validateRunningContainer(container, pod, path))
}

// ValidateContainers returns what is wrong with the containers of a pod, but for their names.
func ValidateContainers(containers []corev1.Container, pod PodContext, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	hostPorts := validate.Unique[string]{}
	for i := range validate.Each(containers, &errs) {
		container, containerPath := &containers[i], path.Index(i)
		errs = append(errs, ValidateContainer(container, pod, containerPath)...)
		errs = append(errs, pod.validateHostPorts(container.Ports, hostPorts, containerPath.Child("ports"))...)
	}
	return errs
}

// ValidateInitContainers returns what is wrong with the init containers of a pod, but for their names.
func ValidateInitContainers(containers []corev1.Container, pod PodContext, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range validate.Each(containers, &errs) {
		container, containerPath := &containers[i], path.Index(i)
		errs = append(errs, validateContainerCommon(container, pod, containerPath)...)
		errs = append(errs, pod.validateHostPorts(container.Ports, validate.Unique[string]{}, containerPath.Child("ports"))...)
		if IsRestartableInitContainer(container) {
			errs = append(errs, validateRunningContainer(container, pod, containerPath)...)
		} else {
			errs = append(errs, validateNonRestartableInitContainer(container, containerPath)...)
		}
	}
	return errs
}

// validateContainerCommon holds for containers and init containers alike.
func validateContainerCommon(container *corev1.Container, pod PodContext, path *field.Path) field.ErrorList {
	return slices.Concat(
		validateImage(container.Image, path.Child("image")),
		validate.OptionalEnum(container.ImagePullPolicy, pullPolicies, path.Child("imagePullPolicy")),
		validate.OptionalEnum(container.TerminationMessagePolicy, terminationMessagePolicies, path.Child("terminationMessagePolicy")),
		validateContainerPorts(container.Ports, path.Child("ports")),
		ValidateEnv(container.Env, pod, path.Child("env")),
		ValidateEnvFrom(container.EnvFrom, path.Child("envFrom")),
		validateResourceRequirements(&container.Resources, pod.claims, path.Child("resources")),
		validateResizePolicy(container.ResizePolicy, path.Child("resizePolicy")),
		validateContainerRestartPolicy(container, path),
		validateVolumeMounts(container, pod.volumes, path.Child("volumeMounts")),
		validateVolumeDevices(container, pod.volumes, path.Child("volumeDevices")),
		validateSecurityContext(container.SecurityContext, pod, path.Child("securityContext")),
	)
}

// validateRunningContainer holds for what runs as long as the pod does: containers and sidecars.
func validateRunningContainer(container *corev1.Container, pod PodContext, path *field.Path) field.ErrorList {
	handlers := pod.handlers(container)
	return slices.Concat(
		handlers.validateLifecycle(container.Lifecycle, path.Child("lifecycle")),
		validateReadinessProbe(container.ReadinessProbe, handlers, path.Child("readinessProbe")),
		validateContainerProbe(container.LivenessProbe, handlers, path.Child("livenessProbe")),
		validateContainerProbe(container.StartupProbe, handlers, path.Child("startupProbe")),
	)
}

// validateNonRestartableInitContainer holds for init containers that the main container waits for.
func validateNonRestartableInitContainer(container *corev1.Container, path *field.Path) field.ErrorList {
	const detail = "may not be set for init containers without restartPolicy=Always"
	var errs field.ErrorList
	if container.Lifecycle != nil {
		errs = append(errs, field.Forbidden(path.Child("lifecycle"), detail))
	}
	if container.ReadinessProbe != nil {
		errs = append(errs, field.Forbidden(path.Child("readinessProbe"), detail))
	}
	if container.LivenessProbe != nil {
		errs = append(errs, field.Forbidden(path.Child("livenessProbe"), detail))
	}
	if container.StartupProbe != nil {
		errs = append(errs, field.Forbidden(path.Child("startupProbe"), detail))
	}
	for i, policy := range validate.Each(container.ResizePolicy, &errs) {
		if policy.RestartPolicy == corev1.RestartContainer {
			errs = append(errs, field.Invalid(path.Child("resizePolicy").Index(i).Child("restartPolicy"), policy.RestartPolicy,
				"must be NotRequired for an init container without restartPolicy Always"))
		}
	}
	return errs
}

// ValidateContainerNames requires names of containers that are not in taken, and adds them to it.
func ValidateContainerNames(containers []corev1.Container, taken validate.Unique[string], path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range validate.Each(containers, &errs) {
		name, namePath := containers[i].Name, path.Index(i).Child("name")
		errs = append(errs, validate.Format(name, validation.IsDNS1123Label, namePath)...)
		errs = append(errs, taken.Add(name, namePath)...)
	}
	return errs
}

// validateImage refuses white space around an image like the Pod API. A Deployment accepts it, but its pods do not. It also refuses
// every image that a kubelet cannot pull. A kubelet parses images with the same function.
func validateImage(image string, path *field.Path) field.ErrorList {
	const such = `must name an image, such as "nginx:1.7.9"`
	if image == "" {
		return field.ErrorList{field.Required(path, such)}
	}
	if strings.TrimSpace(image) != image {
		return field.ErrorList{field.Invalid(path, image, "must not start or end with white space")}
	}
	if _, err := reference.ParseNormalizedNamed(image); err != nil {
		return field.ErrorList{field.Invalid(path, image, fmt.Sprintf("%s: %v", such, err))}
	}
	return nil
}

// IsRestartableInitContainer returns whether an init container keeps running beside the containers of its pod: whether it
// is a sidecar.
func IsRestartableInitContainer(initContainer *corev1.Container) bool {
	return initContainer.RestartPolicy != nil && *initContainer.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// validateContainerPorts requires that no port is listed twice: number and protocol are the key of the list, and
// server-side apply takes each key once.
func validateContainerPorts(ports []corev1.ContainerPort, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	numbers := validate.Unique[string]{}
	for i := range validate.Each(ports, &errs) {
		port, portPath := &ports[i], path.Index(i)
		errs = append(errs, validateContainerPort(port, portPath)...)
		errs = append(errs, numbers.Add(fmt.Sprintf("%d/%s", port.ContainerPort, cmp.Or(port.Protocol, corev1.ProtocolTCP)), portPath)...)
	}
	return errs
}

func validateContainerPort(port *corev1.ContainerPort, path *field.Path) field.ErrorList {
	errs := slices.Concat(
		validate.Invalid(path.Child("containerPort"), port.ContainerPort, validation.IsValidPortNum(int(port.ContainerPort))),
		validate.OptionalEnum(port.Protocol, protocols, path.Child("protocol")),
	)
	if port.Name != "" {
		errs = append(errs, validate.Format(port.Name, validation.IsValidPortName, path.Child("name"))...)
	}
	if port.HostPort != 0 {
		errs = append(errs, validate.Invalid(path.Child("hostPort"), port.HostPort, validation.IsValidPortNum(int(port.HostPort)))...)
	}
	return errs
}

// validateHostPorts refuses a host port that is in taken, and adds the other ones to it. In the network of the host, every port is
// a host port.
func (p PodContext) validateHostPorts(ports []corev1.ContainerPort, taken validate.Unique[string], path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range validate.Each(ports, &errs) {
		port, portPath := &ports[i], path.Index(i)
		number := port.HostPort
		if p.hostNetwork && number == 0 {
			number, portPath = port.ContainerPort, portPath.Child("containerPort")
		} else {
			portPath = portPath.Child("hostPort")
		}
		if number != 0 {
			errs = append(errs, taken.Add(fmt.Sprintf("%s/%s/%d", cmp.Or(port.Protocol, corev1.ProtocolTCP), port.HostIP, number), portPath)...)
		}
	}
	return errs
}

// ValidateContainerPortNames requires that a name is the name of one port of the pod, as the Pod API documents. A target port with
// the name of two ports would select either of them.
func ValidateContainerPortNames(containers, initContainers []corev1.Container, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := validate.Unique[string]{}
	validateNames := func(containers []corev1.Container, path *field.Path) {
		for i := range validate.Each(containers, &errs) {
			for j, port := range validate.Each(containers[i].Ports, &errs) {
				errs = append(errs, names.Add(port.Name, path.Index(i).Child("ports").Index(j).Child("name"))...)
			}
		}
	}
	validateNames(containers, path.Child("containers"))
	validateNames(initContainers, path.Child("initContainers"))
	return errs
}

// addPortNames returns names with those by which the probes and hooks of a container can mean its ports.
func addPortNames(names sets.Set[string], ports []corev1.ContainerPort) sets.Set[string] {
	names = names.Clone()
	for i := range ports {
		names.Insert(ports[i].Name)
	}
	return names.Delete("")
}

// ValidatePortNumOrName requires a port number or something that can be the name of a container port.
func ValidatePortNumOrName(port intstr.IntOrString, path *field.Path) field.ErrorList {
	if port.Type == intstr.Int {
		return validate.Invalid(path, port.IntVal, validation.IsValidPortNum(int(port.IntVal)))
	}
	if number := intstr.Parse(port.StrVal); number.Type == intstr.Int {
		return field.ErrorList{field.Invalid(path, port.StrVal, "must be a number without quotes, or the name of a container's port")}
	}
	return validate.Format(port.StrVal, validation.IsValidPortName, path)
}

func validateContainerRestartPolicy(container *corev1.Container, path *field.Path) field.ErrorList {
	rules, rulesPath := container.RestartPolicyRules, path.Child("restartPolicyRules")
	errs := validate.EnumPointer(container.RestartPolicy, restartPolicies, path.Child("restartPolicy"))
	if container.RestartPolicy == nil && len(rules) > 0 {
		errs = append(errs, field.Required(path.Child("restartPolicy"), "must say what happens when no rule of restartPolicyRules applies"))
	}
	if len(rules) > maxRestartPolicyRules {
		errs = append(errs, field.TooMany(rulesPath, len(rules), maxRestartPolicyRules))
	}
	for i := range validate.Each(rules, &errs) {
		errs = append(errs, validateContainerRestartRule(&rules[i], rulesPath.Index(i))...)
	}
	return errs
}

func validateContainerRestartRule(rule *corev1.ContainerRestartRule, path *field.Path) field.ErrorList {
	errs := validate.Enum(rule.Action, restartRuleActions, path.Child("action"))
	codesPath := path.Child("exitCodes")
	if rule.ExitCodes == nil {
		return append(errs, field.Required(codesPath, "must say which exit codes the rule is for"))
	}
	errs = append(errs, validate.Enum(rule.ExitCodes.Operator, exitCodeOperators, codesPath.Child("operator"))...)
	if count := len(rule.ExitCodes.Values); count > maxExitCodes {
		errs = append(errs, field.TooMany(codesPath.Child("values"), count, maxExitCodes))
	}
	return append(errs, validateExitCodes(rule.ExitCodes.Values, codesPath.Child("values"))...)
}

// validateExitCodes refuses a set that has a code twice. The cluster would take it of any client but those that apply.
func validateExitCodes(codes []int32, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := validate.Unique[string]{}
	for i, code := range validate.Each(codes, &errs) {
		errs = append(errs, seen.Add(strconv.Itoa(int(code)), path.Index(i))...)
	}
	return errs
}

func validateResizePolicy(policies []corev1.ContainerResizePolicy, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := validate.Unique[corev1.ResourceName]{}
	for i := range validate.Each(policies, &errs) {
		policy, policyPath := &policies[i], path.Index(i)
		errs = append(errs, slices.Concat(
			validate.Enum(policy.ResourceName, resizableResources, policyPath.Child("resourceName")),
			validate.Enum(policy.RestartPolicy, resizeRestartPolicies, policyPath.Child("restartPolicy")),
			names.Add(policy.ResourceName, policyPath.Child("resourceName")),
		)...)
	}
	return errs
}
