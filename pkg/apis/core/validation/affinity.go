// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

const maxWeight = 100

var (
	nodeOperators = []corev1.NodeSelectorOperator{
		corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist,
		corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt,
	}
	nodeFieldOperators = []corev1.NodeSelectorOperator{corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn}
	nodeFields         = []string{metav1.ObjectNameField}
)

func validateAffinity(affinity *corev1.Affinity, path *field.Path) field.ErrorList {
	if affinity == nil {
		return nil
	}
	errs := validateNodeAffinity(affinity.NodeAffinity, path.Child("nodeAffinity"))
	if terms := affinity.PodAffinity; terms != nil {
		errs = append(errs, validatePodAffinityTerms(terms.RequiredDuringSchedulingIgnoredDuringExecution,
			terms.PreferredDuringSchedulingIgnoredDuringExecution, path.Child("podAffinity"))...)
	}
	if terms := affinity.PodAntiAffinity; terms != nil {
		errs = append(errs, validatePodAffinityTerms(terms.RequiredDuringSchedulingIgnoredDuringExecution,
			terms.PreferredDuringSchedulingIgnoredDuringExecution, path.Child("podAntiAffinity"))...)
	}
	return errs
}

// validatePodAffinityTerms validates the terms of an affinity or anti-affinity, at path.
func validatePodAffinityTerms(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range validate.Each(required, &errs) {
		errs = append(errs, validatePodAffinityTerm(&required[i], path.Child("requiredDuringSchedulingIgnoredDuringExecution").Index(i))...)
	}
	for i := range validate.Each(preferred, &errs) {
		termPath := path.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(i)
		errs = append(errs, validateWeight(preferred[i].Weight, termPath.Child("weight"))...)
		errs = append(errs, validatePodAffinityTerm(&preferred[i].PodAffinityTerm, termPath.Child("podAffinityTerm"))...)
	}
	return errs
}

func validatePodAffinityTerm(term *corev1.PodAffinityTerm, path *field.Path) field.ErrorList {
	errs := slices.Concat(
		validate.Format(term.TopologyKey, content.IsLabelKey, path.Child("topologyKey")),
		validateLabelSelector(term.LabelSelector, path.Child("labelSelector")),
		validateLabelSelector(term.NamespaceSelector, path.Child("namespaceSelector")),
		validateMatchLabelKeys(term.MatchLabelKeys, term.LabelSelector, path.Child("matchLabelKeys")),
		validateMatchLabelKeysNotSelected(term.MatchLabelKeys, term.LabelSelector, path.Child("matchLabelKeys")),
		validateMatchLabelKeys(term.MismatchLabelKeys, term.LabelSelector, path.Child("mismatchLabelKeys")),
	)
	for i, name := range validate.Each(term.Namespaces, &errs) {
		errs = append(errs, validate.Format(name, validation.IsDNS1123Label, path.Child("namespaces").Index(i))...)
	}
	for i, key := range validate.Each(term.MatchLabelKeys, &errs) {
		if slices.Contains(term.MismatchLabelKeys, key) {
			errs = append(errs, field.Invalid(path.Child("matchLabelKeys").Index(i), key, "must not be in mismatchLabelKeys as well"))
		}
	}
	return errs
}

// validateMatchLabelKeys validates the keys of labels that are added to a selector with the values of the pod itself.
func validateMatchLabelKeys(keys []string, selector *metav1.LabelSelector, path *field.Path) field.ErrorList {
	if len(keys) > 0 && selector == nil {
		return field.ErrorList{field.Forbidden(path, "may only be given together with labelSelector")}
	}
	var errs field.ErrorList
	for i, key := range validate.Each(keys, &errs) {
		errs = append(errs, validate.Format(key, content.IsLabelKey, path.Index(i))...)
	}
	return errs
}

// validateMatchLabelKeysNotSelected refuses keys that the selector has a value for: pods could hardly match both.
func validateMatchLabelKeysNotSelected(keys []string, selector *metav1.LabelSelector, path *field.Path) field.ErrorList {
	if selector == nil {
		return nil
	}
	var errs field.ErrorList
	for i, key := range validate.Each(keys, &errs) {
		_, selected := selector.MatchLabels[key]
		expressed := slices.ContainsFunc(selector.MatchExpressions, func(e metav1.LabelSelectorRequirement) bool { return e.Key == key })
		if selected || expressed {
			errs = append(errs, field.Invalid(path.Index(i), key, "exists in both matchLabelKeys and labelSelector"))
		}
	}
	return errs
}

func validateNodeAffinity(affinity *corev1.NodeAffinity, path *field.Path) field.ErrorList {
	if affinity == nil {
		return nil
	}
	var errs field.ErrorList
	if required := affinity.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		errs = validateNodeSelector(required, path.Child("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"))
	}
	preferredPath := path.Child("preferredDuringSchedulingIgnoredDuringExecution")
	for i := range validate.Each(affinity.PreferredDuringSchedulingIgnoredDuringExecution, &errs) {
		preferred, termPath := &affinity.PreferredDuringSchedulingIgnoredDuringExecution[i], preferredPath.Index(i)
		errs = append(errs, validateWeight(preferred.Weight, termPath.Child("weight"))...)
		errs = append(errs, validateNodeSelectorTerm(&preferred.Preference, termPath.Child("preference"))...)
	}
	return errs
}

func validateWeight(weight int32, path *field.Path) field.ErrorList {
	return validate.Invalid(path, weight, validation.IsInRange(int(weight), 1, maxWeight))
}

// validateNodeSelector requires a term, and that what nodes must have is something that they can have.
func validateNodeSelector(selector *corev1.NodeSelector, path *field.Path) field.ErrorList {
	if len(selector.NodeSelectorTerms) == 0 {
		return field.ErrorList{field.Required(path, "must have a term")}
	}
	var errs field.ErrorList
	for i := range validate.Each(selector.NodeSelectorTerms, &errs) {
		term, termPath := &selector.NodeSelectorTerms[i], path.Index(i)
		errs = append(errs, validateNodeSelectorTerm(term, termPath)...)
		for j := range validate.Each(term.MatchExpressions, &errs) {
			valuesPath := termPath.Child("matchExpressions").Index(j).Child("values")
			for k, value := range validate.Each(term.MatchExpressions[j].Values, &errs) {
				errs = append(errs, validate.Invalid(valuesPath.Index(k), value, validation.IsValidLabelValue(value))...)
			}
		}
	}
	return errs
}

func validateNodeSelectorTerm(term *corev1.NodeSelectorTerm, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range validate.Each(term.MatchExpressions, &errs) {
		expression, expressionPath := &term.MatchExpressions[i], path.Child("matchExpressions").Index(i)
		errs = append(errs, slices.Concat(
			validate.Format(expression.Key, content.IsLabelKey, expressionPath.Child("key")),
			validate.Enum(expression.Operator, nodeOperators, expressionPath.Child("operator")),
			validateNodeSelectorValues(expression, expressionPath.Child("values")),
		)...)
	}
	for i := range validate.Each(term.MatchFields, &errs) {
		errs = append(errs, validateNodeFieldSelectorRequirement(&term.MatchFields[i], path.Child("matchFields").Index(i))...)
	}
	return errs
}

func validateNodeSelectorValues(expression *corev1.NodeSelectorRequirement, path *field.Path) field.ErrorList {
	count := len(expression.Values)
	switch expression.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		if count == 0 {
			return field.ErrorList{field.Required(path, "must have a value when operator is In or NotIn")}
		}
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		if count > 0 {
			return field.ErrorList{field.Forbidden(path, "may not be given when operator is Exists or DoesNotExist")}
		}
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		if count != 1 {
			return field.ErrorList{field.Required(path, "must have exactly one value when operator is Gt or Lt")}
		}
	}
	return nil
}

// validateNodeFieldSelectorRequirement validates an expression over a field of nodes: there is one such field, the name.
func validateNodeFieldSelectorRequirement(expression *corev1.NodeSelectorRequirement, path *field.Path) field.ErrorList {
	errs := slices.Concat(
		validate.Enum(expression.Key, nodeFields, path.Child("key")),
		validate.Enum(expression.Operator, nodeFieldOperators, path.Child("operator")),
	)
	if len(expression.Values) != 1 {
		errs = append(errs, field.Required(path.Child("values"), "must have exactly one value"))
	}
	for i, value := range validate.Each(expression.Values, &errs) {
		errs = append(errs, validate.Format(value, validation.IsDNS1123Subdomain, path.Child("values").Index(i))...)
	}
	return errs
}
