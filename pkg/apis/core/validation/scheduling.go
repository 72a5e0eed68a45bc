// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

var preemptionPolicies = []corev1.PreemptionPolicy{corev1.PreemptLowerPriority, corev1.PreemptNever}

var (
	// tolerationOperators are without Lt and Gt, which clusters take with the feature TaintTolerationComparisonOperators
	// only.
	tolerationOperators = []corev1.TolerationOperator{corev1.TolerationOpEqual, corev1.TolerationOpExists}
	taintEffects        = []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute}
)

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

// validateSchedulingGroup validates the group as clusters do that have the feature on: it is off by default.
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

var (
	unsatisfiableActions  = []corev1.UnsatisfiableConstraintAction{corev1.DoNotSchedule, corev1.ScheduleAnyway}
	nodeInclusionPolicies = []corev1.NodeInclusionPolicy{corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore}
)

func validateTolerations(tolerations []corev1.Toleration, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range validate.Each(tolerations, &errs) {
		errs = append(errs, validateToleration(&tolerations[i], path.Index(i))...)
	}
	return errs
}

// validateToleration takes no operator for Equal, no key for all keys, and no effect for all effects.
func validateToleration(toleration *corev1.Toleration, path *field.Path) field.ErrorList {
	errs := slices.Concat(
		validate.OptionalEnum(toleration.Operator, tolerationOperators, path.Child("operator")),
		validate.OptionalEnum(toleration.Effect, taintEffects, path.Child("effect")),
		validateTolerationValue(toleration, path.Child("value")),
	)
	if toleration.Key != "" {
		errs = append(errs, validate.Format(toleration.Key, content.IsLabelKey, path.Child("key"))...)
	} else if toleration.Operator != corev1.TolerationOpExists {
		errs = append(errs, field.Required(path.Child("key"), "must be given unless operator is Exists"))
	}
	if toleration.TolerationSeconds != nil && toleration.Effect != corev1.TaintEffectNoExecute {
		errs = append(errs, field.Forbidden(path.Child("tolerationSeconds"), "needs effect NoExecute"))
	}
	return errs
}

func validateTolerationValue(toleration *corev1.Toleration, path *field.Path) field.ErrorList {
	if toleration.Operator != corev1.TolerationOpExists {
		return validate.Invalid(path, toleration.Value, validation.IsValidLabelValue(toleration.Value))
	}
	if toleration.Value != "" {
		return field.ErrorList{field.Forbidden(path, "may not be given when operator is Exists")}
	}
	return nil
}

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
	return field.ErrorList{field.Invalid(path, value, "must be greater than zero")}
}
