// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/utils/ptr"
)

func TestHorizontalPodAutoscalerSpec(t *testing.T) {
	type spec = autoscalingv2.HorizontalPodAutoscalerSpec
	replicas := func(minimum *int32, maximum int32) func(*spec) {
		return func(spec *spec) { spec.MinReplicas, spec.MaxReplicas = minimum, maximum }
	}
	// metric replaces the metric of the autoscaler.
	metric := func(text string) func(*spec) {
		return func(spec *spec) {
			spec.Metrics = make([]autoscalingv2.MetricSpec, 1)
			if err := yaml.UnmarshalStrict([]byte(text), &spec.Metrics[0]); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
	}
	scaleUp := func(change func(*autoscalingv2.HPAScalingRules)) func(*spec) {
		return func(spec *spec) {
			rules := &autoscalingv2.HPAScalingRules{Policies: []autoscalingv2.HPAScalingPolicy{{Type: "Pods", Value: 4, PeriodSeconds: 15}}}
			change(rules)
			spec.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: rules}
		}
	}
	policy := func(change func(*autoscalingv2.HPAScalingPolicy)) func(*spec) {
		return scaleUp(func(rules *autoscalingv2.HPAScalingRules) { change(&rules.Policies[0]) })
	}
	const (
		first  = "spec.metrics[0]."
		target = ", target: {type: AverageValue, averageValue: '1'}"
	)
	for _, row := range []struct {
		name   string
		change func(*spec)
		want   []string
	}{
		{"a share of the CPU is accepted", func(*spec) {}, nil},
		{"no metric is accepted", func(spec *spec) { spec.Metrics = nil }, nil},

		{"the least number is 1", replicas(ptr.To[int32](0), 5), []string{"Invalid value: spec.minReplicas"}},
		{"the least number is not negative", replicas(ptr.To[int32](-1), 5), []string{"Invalid value: spec.minReplicas"}},
		{"the least number may be left out", replicas(nil, 1), nil},
		{"the largest number is required", replicas(ptr.To[int32](2), 0), []string{"Required value: spec.maxReplicas"}},
		{"the largest number is not negative", replicas(nil, -1), []string{"Invalid value: spec.maxReplicas"}},
		{"the largest number is no less than the least", replicas(ptr.To[int32](3), 2), []string{"Invalid value: spec.maxReplicas"}},
		{"the largest number may be the least", replicas(ptr.To[int32](3), 3), nil},

		{"a metric has a type", metric("{resource: {name: cpu" + target + "}}"), []string{"Unsupported value: " + first + "type"}},
		{"a type is known", metric("{type: Node}"), []string{"Unsupported value: " + first + "type"}},
		{"a metric has the source of its type", metric("{type: Resource}"), []string{"Required value: " + first + "resource"}},
		{"a metric has no other source", metric("{type: Resource, resource: {name: cpu" + target + "}, pods: {metric: {name: a}" + target + "}}"),
			[]string{"Forbidden: " + first + "pods"}},
		{"a metric has the source of its type and not another one", metric("{type: Resource, pods: {metric: {name: a}" + target + "}}"),
			[]string{"Required value: " + first + "resource"}},

		{"an amount of a resource is accepted", metric("{type: Resource, resource: {name: memory" + target + "}}"), nil},
		{"a resource has a name", metric("{type: Resource, resource: {" + target[2:] + "}}"), []string{"Required value: " + first + "resource.name"}},
		{"a target has a type", metric("{type: Resource, resource: {name: cpu, target: {averageValue: '1'}}}"), []string{"Unsupported value: " + first + "resource.target.type"}},
		{"a target has a value", metric("{type: Resource, resource: {name: cpu, target: {type: Utilization}}}"),
			[]string{"Required value: " + first + "resource.target.averageUtilization"}},
		{"a share is above 0", metric("{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 0}}}"),
			[]string{"Invalid value: " + first + "resource.target.averageUtilization"}},
		{"a share may be above 100", metric("{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 300}}}"), nil},
		{"an amount is above 0", metric("{type: Resource, resource: {name: cpu, target: {type: AverageValue, averageValue: '0'}}}"),
			[]string{"Invalid value: " + first + "resource.target.averageValue"}},
		{"a target is a share or an amount", metric("{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50, averageValue: '1'}}}"),
			[]string{"Forbidden: " + first + "resource.target.averageValue"}},

		{"a resource of a container is accepted", metric("{type: ContainerResource, containerResource: {name: cpu, container: web" + target + "}}"), nil},
		{"a container has a name", metric("{type: ContainerResource, containerResource: {name: cpu" + target + "}}"),
			[]string{"Required value: " + first + "containerResource.container"}},
		{"the name of a container is a label", metric("{type: ContainerResource, containerResource: {name: cpu, container: Web" + target + "}}"),
			[]string{"Invalid value: " + first + "containerResource.container"}},
		{"a resource is one that a container has", metric("{type: ContainerResource, containerResource: {name: disk, container: web" + target + "}}"),
			[]string{"Invalid value: " + first + "containerResource.name"}},
		{"a resource of a container has a target", metric("{type: ContainerResource, containerResource: {name: cpu, container: web, target: {type: Utilization}}}"),
			[]string{"Required value: " + first + "containerResource.target.averageUtilization"}},

		{"a metric of the pods is accepted", metric("{type: Pods, pods: {metric: {name: requests}" + target + "}}"), nil},
		{"a metric of the pods has a name", metric("{type: Pods, pods: {metric: {}" + target + "}}"), []string{"Required value: " + first + "pods.metric.name"}},
		{"the name of a metric is no path", metric("{type: Pods, pods: {metric: {name: a/b}" + target + "}}"), []string{"Invalid value: " + first + "pods.metric.name"}},
		{"a metric of the pods has an average", metric("{type: Pods, pods: {metric: {name: a}, target: {type: Value, value: '1'}}}"),
			[]string{"Required value: " + first + "pods.target.averageValue"}},

		{"a metric of an object is accepted", metric("{type: Object, object: {describedObject: {apiVersion: v1, kind: Service, name: a}, metric: {name: b}, target: {type: Value, value: '1'}}}"), nil},
		{"an object has a kind and a name", metric("{type: Object, object: {describedObject: {}, metric: {name: b}, target: {type: Value, value: '1'}}}"),
			[]string{"Required value: " + first + "object.describedObject.kind", "Required value: " + first + "object.describedObject.name"}},
		{"the version of an object has a group at most", metric("{type: Object, object: {describedObject: {apiVersion: a/b/c, kind: A, name: a}, metric: {name: b}, target: {type: Value, value: '1'}}}"),
			[]string{"Invalid value: " + first + "object.describedObject.apiVersion"}},
		{"a metric of an object has a target", metric("{type: Object, object: {describedObject: {kind: A, name: a}, metric: {name: b}, target: {type: Value}}}"),
			[]string{"Required value: " + first + "object.target.averageValue"}},

		{"a metric of something else is accepted", metric("{type: External, external: {metric: {name: queue}" + target + "}}"), nil},
		{"a metric of something else has a target", metric("{type: External, external: {metric: {name: queue}, target: {type: Value}}}"),
			[]string{"Required value: " + first + "external.target.averageValue"}},
		{"a metric of something else has one target", metric("{type: External, external: {metric: {name: queue}, target: {type: Value, value: '1', averageValue: '1'}}}"),
			[]string{"Forbidden: " + first + "external.target.value"}},
		{"a value is above 0", metric("{type: External, external: {metric: {name: queue}, target: {type: Value, value: '-1'}}}"),
			[]string{"Invalid value: " + first + "external.target.value"}},

		{"rules with a policy are accepted", scaleUp(func(*autoscalingv2.HPAScalingRules) {}), nil},
		{"rules without policies get default ones", scaleUp(func(rules *autoscalingv2.HPAScalingRules) { rules.Policies = nil }), nil},
		{"a window of an hour is accepted", scaleUp(func(rules *autoscalingv2.HPAScalingRules) { rules.StabilizationWindowSeconds = ptr.To[int32](3600) }), nil},
		{"a window of more is refused", scaleUp(func(rules *autoscalingv2.HPAScalingRules) { rules.StabilizationWindowSeconds = ptr.To[int32](3601) }),
			[]string{"Invalid value: spec.behavior.scaleUp.stabilizationWindowSeconds"}},
		{"a window is not negative", scaleUp(func(rules *autoscalingv2.HPAScalingRules) { rules.StabilizationWindowSeconds = ptr.To[int32](-1) }),
			[]string{"Invalid value: spec.behavior.scaleUp.stabilizationWindowSeconds"}},
		{"which policy is selected is known", scaleUp(func(rules *autoscalingv2.HPAScalingRules) {
			rules.SelectPolicy = ptr.To[autoscalingv2.ScalingPolicySelect]("Most")
		}),
			[]string{"Unsupported value: spec.behavior.scaleUp.selectPolicy"}},
		{"a tolerance is not negative", scaleUp(func(rules *autoscalingv2.HPAScalingRules) { rules.Tolerance = ptr.To(resource.MustParse("-0.1")) }),
			[]string{"Invalid value: spec.behavior.scaleUp.tolerance"}},
		{"a policy has a type", policy(func(policy *autoscalingv2.HPAScalingPolicy) { policy.Type = "" }), []string{"Unsupported value: spec.behavior.scaleUp.policies[0].type"}},
		{"a policy has a value", policy(func(policy *autoscalingv2.HPAScalingPolicy) { policy.Value = 0 }), []string{"Invalid value: spec.behavior.scaleUp.policies[0].value"}},
		{"a policy has a period", policy(func(policy *autoscalingv2.HPAScalingPolicy) { policy.PeriodSeconds = 0 }),
			[]string{"Invalid value: spec.behavior.scaleUp.policies[0].periodSeconds"}},
		{"a period is at most half an hour", policy(func(policy *autoscalingv2.HPAScalingPolicy) { policy.PeriodSeconds = 1801 }),
			[]string{"Invalid value: spec.behavior.scaleUp.policies[0].periodSeconds"}},
		{"rules of both directions are validated", func(spec *spec) {
			wrong := &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: ptr.To[int32](-1)}
			spec.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: wrong, ScaleDown: wrong}
		}, []string{"Invalid value: spec.behavior.scaleUp.stabilizationWindowSeconds", "Invalid value: spec.behavior.scaleDown.stabilizationWindowSeconds"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			spec := &spec{MaxReplicas: 5}
			metric("{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}}")(spec)
			row.change(spec)
			errs := ValidateHorizontalPodAutoscalerSpec(spec, field.NewPath("spec"))
			var got []string
			for _, err := range errs {
				got = append(got, err.Type.String()+": "+err.Field)
			}
			if !slices.Equal(got, row.want) {
				t.Errorf("got %q\nwant %q\nin full: %v", got, row.want, errs.ToAggregate())
			}
		})
	}
}
