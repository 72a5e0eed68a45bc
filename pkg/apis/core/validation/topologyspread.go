// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

var (
	unsatisfiableActions  = []corev1.UnsatisfiableConstraintAction{corev1.DoNotSchedule, corev1.ScheduleAnyway}
	nodeInclusionPolicies = []corev1.NodeInclusionPolicy{corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore}
)

// validateTopologySpreadConstraints requires that topologyKey and whenUnsatisfiable are not listed twice together: they are the key
// of the list.
func validateTopologySpreadConstraints(constraints []corev1.TopologySpreadConstraint, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	kinds := validate.Unique[string]{}
	for i := range validate.Each(constraints, &errs) {
		constraint, constraintPath := &constraints[i], path.Index(i)
		errs = append(errs, validateTopologySpreadConstraint(constraint, constraintPath)...)
		errs = append(errs, kinds.Add(fmt.Sprintf("%s/%s", constraint.TopologyKey, constraint.WhenUnsatisfiable), constraintPath)...)
	}
	return errs
}

func validateTopologySpreadConstraint(constraint *corev1.TopologySpreadConstraint, path *field.Path) field.ErrorList {
	const topologyRule = `must be the label of nodes that tells where they are, such as "topology.kubernetes.io/zone"`
	errs := slices.Concat(
		validatePositive(constraint.MaxSkew, path.Child("maxSkew")),
		validate.Required(constraint.TopologyKey, path.Child("topologyKey"), topologyRule),
		validate.Enum(constraint.WhenUnsatisfiable, unsatisfiableActions, path.Child("whenUnsatisfiable")),
		validateMinDomains(constraint, path.Child("minDomains")),
		validateLabelSelector(constraint.LabelSelector, path.Child("labelSelector")),
		validateMatchLabelKeys(constraint.MatchLabelKeys, constraint.LabelSelector, path.Child("matchLabelKeys")),
		validateMatchLabelKeysNotSelected(constraint.MatchLabelKeys, constraint.LabelSelector, path.Child("matchLabelKeys")),
	)
	errs = append(errs, validate.EnumPointer(constraint.NodeAffinityPolicy, nodeInclusionPolicies, path.Child("nodeAffinityPolicy"))...)
	errs = append(errs, validate.EnumPointer(constraint.NodeTaintsPolicy, nodeInclusionPolicies, path.Child("nodeTaintsPolicy"))...)
	return errs
}

func validateMinDomains(constraint *corev1.TopologySpreadConstraint, path *field.Path) field.ErrorList {
	if constraint.MinDomains == nil {
		return nil
	}
	errs := validatePositive(*constraint.MinDomains, path)
	if constraint.WhenUnsatisfiable != corev1.DoNotSchedule {
		errs = append(errs, field.Forbidden(path, "needs whenUnsatisfiable DoNotSchedule"))
	}
	return errs
}

func validatePositive(value int32, path *field.Path) field.ErrorList {
	if value > 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, value, "must be 1 or more")}
}
