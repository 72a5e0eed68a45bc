// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
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
