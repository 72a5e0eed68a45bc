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
	listed := validate.Unique[string]{}
	for i, key := range validate.Each(keys, &errs) {
		errs = append(errs, validate.Format(key, content.IsLabelKey, path.Index(i))...)
		errs = append(errs, listed.Add(key, path.Index(i))...)
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
			errs = append(errs, field.Invalid(path.Index(i), key, "must not be in labelSelector as well"))
		}
	}
	return errs
}
