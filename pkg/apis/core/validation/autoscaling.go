// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

var (
	metricSourceTypes = []autoscalingv2.MetricSourceType{
		autoscalingv2.ContainerResourceMetricSourceType, autoscalingv2.ExternalMetricSourceType, autoscalingv2.ObjectMetricSourceType,
		autoscalingv2.PodsMetricSourceType, autoscalingv2.ResourceMetricSourceType,
	}
	metricTargetTypes = []autoscalingv2.MetricTargetType{
		autoscalingv2.AverageValueMetricType, autoscalingv2.UtilizationMetricType, autoscalingv2.ValueMetricType,
	}
	scalingPolicyTypes   = []autoscalingv2.HPAScalingPolicyType{autoscalingv2.PercentScalingPolicy, autoscalingv2.PodsScalingPolicy}
	scalingPolicySelects = []autoscalingv2.ScalingPolicySelect{
		autoscalingv2.DisabledPolicySelect, autoscalingv2.MaxChangePolicySelect, autoscalingv2.MinChangePolicySelect,
	}
)

const (
	maxScalingPeriodSeconds       = 1800
	maxStabilizationWindowSeconds = 3600
)

// ValidateHorizontalPodAutoscalerSpec returns what is wrong with an autoscaler, but for the reference to what it scales.
func ValidateHorizontalPodAutoscalerSpec(spec *autoscalingv2.HorizontalPodAutoscalerSpec, path *field.Path) field.ErrorList {
	errs := validateReplicaRange(spec, path)
	for i := range validate.Each(spec.Metrics, &errs) {
		errs = append(errs, validateMetricSpec(&spec.Metrics[i], path.Child("metrics").Index(i))...)
	}
	if behavior := spec.Behavior; behavior != nil {
		errs = append(errs, validateScalingRules(behavior.ScaleUp, path.Child("behavior", "scaleUp"))...)
		errs = append(errs, validateScalingRules(behavior.ScaleDown, path.Child("behavior", "scaleDown"))...)
	}
	return errs
}

// validateReplicaRange allows 0 pods only with a metric that does not come from pods, which the autoscaler needs to start them again.
func validateReplicaRange(spec *autoscalingv2.HorizontalPodAutoscalerSpec, path *field.Path) field.ErrorList {
	minimum, maximum := spec.MinReplicas, spec.MaxReplicas
	var errs field.ErrorList
	switch {
	case minimum == nil || *minimum > 0:
	case *minimum < 0:
		errs = append(errs, field.Invalid(path.Child("minReplicas"), *minimum, "must be at least 0"))
	case !slices.ContainsFunc(spec.Metrics, isIndependentOfPods):
		errs = append(errs, field.Invalid(path.Child("minReplicas"), *minimum, "must be at least 1 without a metric of type External or Object"))
	}
	path = path.Child("maxReplicas")
	switch {
	case maximum == 0:
		errs = append(errs, field.Required(path, "must be the largest number of pods, at least 1"))
	case maximum < 0:
		errs = append(errs, field.Invalid(path, maximum, "must be at least 1"))
	case minimum != nil && maximum < *minimum:
		errs = append(errs, field.Invalid(path, maximum, fmt.Sprintf("must be at least minReplicas, which is %d", *minimum)))
	}
	return errs
}

func isIndependentOfPods(metric autoscalingv2.MetricSpec) bool {
	return metric.Type == autoscalingv2.ExternalMetricSourceType || metric.Type == autoscalingv2.ObjectMetricSourceType
}

// validateMetricSpec requires the source that the type names, and no other one.
func validateMetricSpec(metric *autoscalingv2.MetricSpec, path *field.Path) field.ErrorList {
	type metricSource struct {
		of autoscalingv2.MetricSourceType
		validate.Member
	}
	sources := []metricSource{
		{autoscalingv2.ContainerResourceMetricSourceType, validate.MemberOf("containerResource", metric.ContainerResource, validateContainerResourceMetric)},
		{autoscalingv2.ExternalMetricSourceType, validate.MemberOf("external", metric.External, validateExternalMetric)},
		{autoscalingv2.ObjectMetricSourceType, validate.MemberOf("object", metric.Object, validateObjectMetric)},
		{autoscalingv2.PodsMetricSourceType, validate.MemberOf("pods", metric.Pods, validatePodsMetric)},
		{autoscalingv2.ResourceMetricSourceType, validate.MemberOf("resource", metric.Resource, validateResourceMetric)},
	}
	errs := validate.Enum(metric.Type, metricSourceTypes, path.Child("type"))
	hasOwn := slices.ContainsFunc(sources, func(source metricSource) bool { return source.of == metric.Type && source.Set })
	for _, source := range sources {
		sourcePath := path.Child(source.Name)
		switch {
		case source.of == metric.Type && source.Set:
			errs = append(errs, source.Validate(sourcePath)...)
		case source.of == metric.Type:
			errs = append(errs, field.Required(sourcePath, fmt.Sprintf("must be given when `type` is '%s'", metric.Type)))
		case source.Set && hasOwn:
			errs = append(errs, field.Forbidden(sourcePath, fmt.Sprintf("may not be given when `type` is '%s'", metric.Type)))
		}
	}
	return errs
}

func validateContainerResourceMetric(source *autoscalingv2.ContainerResourceMetricSource, path *field.Path) field.ErrorList {
	errs := slices.Concat(
		validate.Format(source.Container, validation.IsDNS1123Label, path.Child("container")),
		validateResourceMetricTarget(&source.Target, path.Child("target")),
	)
	if !isContainerResourceName(source.Name) {
		errs = append(errs, field.Invalid(path.Child("name"), string(source.Name), resourceNameRule))
	}
	return errs
}

func validateResourceMetric(source *autoscalingv2.ResourceMetricSource, path *field.Path) field.ErrorList {
	return slices.Concat(
		validate.Required(string(source.Name), path.Child("name"), "must be the name of a resource, such as cpu"),
		validateResourceMetricTarget(&source.Target, path.Child("target")),
	)
}

// validateResourceMetricTarget requires a share of what is requested or an amount, and not both.
func validateResourceMetricTarget(target *autoscalingv2.MetricTarget, path *field.Path) field.ErrorList {
	errs := validateMetricTarget(target, path)
	switch {
	case target.AverageUtilization == nil && target.AverageValue == nil:
		errs = append(errs, field.Required(path.Child("averageUtilization"), "must have averageUtilization or averageValue"))
	case target.AverageUtilization != nil && target.AverageValue != nil:
		errs = append(errs, field.Forbidden(path.Child("averageValue"), "may not be given together with averageUtilization"))
	}
	return errs
}

func validateObjectMetric(source *autoscalingv2.ObjectMetricSource, path *field.Path) field.ErrorList {
	errs := slices.Concat(
		validateDescribedObject(&source.DescribedObject, path.Child("describedObject")),
		validateMetricName(source.Metric.Name, path.Child("metric", "name")),
		validateMetricTarget(&source.Target, path.Child("target")),
	)
	if source.Target.Value == nil && source.Target.AverageValue == nil {
		errs = append(errs, field.Required(path.Child("target", "averageValue"), "must have value or averageValue"))
	}
	return errs
}

func validateExternalMetric(source *autoscalingv2.ExternalMetricSource, path *field.Path) field.ErrorList {
	errs := slices.Concat(
		validateMetricName(source.Metric.Name, path.Child("metric", "name")),
		validateMetricTarget(&source.Target, path.Child("target")),
	)
	switch target := &source.Target; {
	case target.Value == nil && target.AverageValue == nil:
		errs = append(errs, field.Required(path.Child("target", "averageValue"), "must have value or averageValue"))
	case target.Value != nil && target.AverageValue != nil:
		errs = append(errs, field.Forbidden(path.Child("target", "value"), "may not be given together with averageValue"))
	}
	return errs
}

func validatePodsMetric(source *autoscalingv2.PodsMetricSource, path *field.Path) field.ErrorList {
	errs := slices.Concat(
		validateMetricName(source.Metric.Name, path.Child("metric", "name")),
		validateMetricTarget(&source.Target, path.Child("target")),
	)
	if source.Target.AverageValue == nil {
		errs = append(errs, field.Required(path.Child("target", "averageValue"), "must be what each pod is to have on average"))
	}
	return errs
}

func validateDescribedObject(reference *autoscalingv2.CrossVersionObjectReference, path *field.Path) field.ErrorList {
	errs := slices.Concat(
		validatePathSegment(reference.Kind, path.Child("kind"), "must be the kind of the object"),
		validatePathSegment(reference.Name, path.Child("name"), "must be the name of the object"),
	)
	if _, err := schema.ParseGroupVersion(reference.APIVersion); err != nil {
		errs = append(errs, field.Invalid(path.Child("apiVersion"), reference.APIVersion, err.Error()))
	}
	return errs
}

func validateMetricName(name string, path *field.Path) field.ErrorList {
	return validatePathSegment(name, path, "must be the name of a metric")
}

// validatePathSegment requires a name that a URL can have in its path.
func validatePathSegment(name string, path *field.Path, missing string) field.ErrorList {
	return append(validate.Required(name, path, missing), validate.Invalid(path, name, content.IsPathSegmentName(name))...)
}

func validateMetricTarget(target *autoscalingv2.MetricTarget, path *field.Path) field.ErrorList {
	errs := slices.Concat(
		validate.Enum(target.Type, metricTargetTypes, path.Child("type")),
		validatePositiveQuantity(target.Value, path.Child("value")),
		validatePositiveQuantity(target.AverageValue, path.Child("averageValue")),
	)
	if utilization := target.AverageUtilization; utilization != nil && *utilization < 1 {
		errs = append(errs, field.Invalid(path.Child("averageUtilization"), *utilization, "must be above 0"))
	}
	return errs
}

func validatePositiveQuantity(quantity *resource.Quantity, path *field.Path) field.ErrorList {
	if quantity == nil || quantity.Sign() > 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, quantity.String(), "must be above 0")}
}

// validateScalingRules validates how the number of pods may change in one direction. Without policies, there are default ones.
func validateScalingRules(rules *autoscalingv2.HPAScalingRules, path *field.Path) field.ErrorList {
	if rules == nil {
		return nil
	}
	errs := validate.EnumPointer(rules.SelectPolicy, scalingPolicySelects, path.Child("selectPolicy"))
	if seconds := rules.StabilizationWindowSeconds; seconds != nil && (*seconds < 0 || *seconds > maxStabilizationWindowSeconds) {
		detail := fmt.Sprintf("must be between 0 and %d", maxStabilizationWindowSeconds)
		errs = append(errs, field.Invalid(path.Child("stabilizationWindowSeconds"), *seconds, detail))
	}
	if tolerance := rules.Tolerance; tolerance != nil && tolerance.Sign() < 0 {
		errs = append(errs, field.Invalid(path.Child("tolerance"), tolerance.String(), "must be greater than or equal to 0"))
	}
	for i := range validate.Each(rules.Policies, &errs) {
		errs = append(errs, validateScalingPolicy(&rules.Policies[i], path.Child("policies").Index(i))...)
	}
	return errs
}

func validateScalingPolicy(policy *autoscalingv2.HPAScalingPolicy, path *field.Path) field.ErrorList {
	errs := validate.Enum(policy.Type, scalingPolicyTypes, path.Child("type"))
	if policy.Value <= 0 {
		errs = append(errs, field.Invalid(path.Child("value"), policy.Value, "must be above 0"))
	}
	if seconds := policy.PeriodSeconds; seconds <= 0 || seconds > maxScalingPeriodSeconds {
		detail := fmt.Sprintf("must be between 1 and %d", maxScalingPeriodSeconds)
		errs = append(errs, field.Invalid(path.Child("periodSeconds"), seconds, detail))
	}
	return errs
}
