// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
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

func validateRestartPolicy(container *corev1.Container, path *field.Path) field.ErrorList {
	rules, rulesPath := container.RestartPolicyRules, path.Child("restartPolicyRules")
	var errs field.ErrorList
	if container.RestartPolicy != nil {
		errs = append(errs, validateChoice(*container.RestartPolicy, restartPolicies, path.Child("restartPolicy"))...)
	} else if len(rules) > 0 {
		errs = append(errs, field.Required(path.Child("restartPolicy"), "must say what happens when no rule of restartPolicyRules applies"))
	}
	if len(rules) > maxRestartPolicyRules {
		errs = append(errs, field.TooMany(rulesPath, len(rules), maxRestartPolicyRules))
	}
	for i := range each(rules, &errs) {
		errs = append(errs, validateRestartRule(&rules[i], rulesPath.Index(i))...)
	}
	return errs
}

func validateRestartRule(rule *corev1.ContainerRestartRule, path *field.Path) field.ErrorList {
	errs := validateChoice(rule.Action, restartRuleActions, path.Child("action"))
	codesPath := path.Child("exitCodes")
	if rule.ExitCodes == nil {
		return append(errs, field.Required(codesPath, "must say which exit codes the rule is for"))
	}
	errs = append(errs, validateChoice(rule.ExitCodes.Operator, exitCodeOperators, codesPath.Child("operator"))...)
	if count := len(rule.ExitCodes.Values); count > maxExitCodes {
		errs = append(errs, field.TooMany(codesPath.Child("values"), count, maxExitCodes))
	}
	return append(errs, validateExitCodes(rule.ExitCodes.Values, codesPath.Child("values"))...)
}

// validateExitCodes refuses a set that has a code twice. The cluster would take it of any client but those that apply.
func validateExitCodes(codes []int32, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := unique[string]{}
	for i, code := range each(codes, &errs) {
		errs = append(errs, seen.add(strconv.Itoa(int(code)), path.Index(i))...)
	}
	return errs
}

func validateResizePolicy(policies []corev1.ContainerResizePolicy, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := unique[corev1.ResourceName]{}
	for i := range each(policies, &errs) {
		policy, policyPath := &policies[i], path.Index(i)
		errs = append(errs, slices.Concat(
			validateChoice(policy.ResourceName, resizableResources, policyPath.Child("resourceName")),
			validateChoice(policy.RestartPolicy, resizeRestartPolicies, policyPath.Child("restartPolicy")),
			names.add(policy.ResourceName, policyPath.Child("resourceName")),
		)...)
	}
	return errs
}
