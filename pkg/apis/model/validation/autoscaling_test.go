// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// autoscaling gives the box an autoscaler of up to 5 pods by 70% of their CPU, after the defaults.
func autoscaling(change func(*model.ModelBoxAutoscaling)) func(*model.ModelBox) {
	return func(box *model.ModelBox) {
		box.Spec.Autoscaling = &model.ModelBoxAutoscaling{MinReplicas: ptr.To[int32](1), MaxReplicas: 5, CPU: ptr.To[int32](70)}
		change(box.Spec.Autoscaling)
	}
}

func TestAutoscaling(t *testing.T) {
	plain := autoscaling(func(*model.ModelBoxAutoscaling) {})
	upTo := func(replicas int32) func(*model.ModelBox) {
		return autoscaling(func(a *model.ModelBoxAutoscaling) { a.MaxReplicas = replicas })
	}
	const path = "spec.autoscaling"
	check(t, []row{
		{"a Deployment is autoscaled", plain, nil},
		{"a StatefulSet is autoscaled", all(runAs(model.WorkloadStatefulSet), plain), nil},
		{"a DaemonSet is not", all(runAs(model.WorkloadDaemonSet), plain), []string{"Forbidden: " + path}},

		{"there is a metric", autoscaling(func(a *model.ModelBoxAutoscaling) { a.CPU = nil }), []string{"Required value: " + path}},
		{"memory is one", autoscaling(func(a *model.ModelBoxAutoscaling) { a.CPU, a.Memory = nil, ptr.To[int32](80) }), nil},
		{"a share of the CPU is above 0", autoscaling(func(a *model.ModelBoxAutoscaling) { a.CPU = ptr.To[int32](0) }), []string{"Invalid value: " + path + ".cpu"}},
		{"a share of the CPU may be above 100", autoscaling(func(a *model.ModelBoxAutoscaling) { a.CPU = ptr.To[int32](250) }), nil},
		{"a share of the memory is above 0", autoscaling(func(a *model.ModelBoxAutoscaling) { a.Memory = ptr.To[int32](-1) }), []string{"Invalid value: " + path + ".memory"}},

		{"the least number is 1", autoscaling(func(a *model.ModelBoxAutoscaling) { a.MinReplicas = ptr.To[int32](0) }), []string{"Invalid value: " + path + ".minReplicas"}},
		{"the largest number is required", upTo(0), []string{"Required value: " + path + ".maxReplicas"}},
		{"the largest number is no less than the least", autoscaling(func(a *model.ModelBoxAutoscaling) { a.MinReplicas = ptr.To[int32](6) }),
			[]string{"Invalid value: " + path + ".maxReplicas"}},
		{"replicas may be out of the range: they are where it starts", all(plain, scaledTo(9)), nil},
		{"a stopped box may have an autoscaler", all(plain, scaledTo(0)), nil},

		{"a metric is one of Kubernetes", autoscaling(func(a *model.ModelBoxAutoscaling) { a.Metrics = []autoscalingv2.MetricSpec{{Type: "Pods"}} }),
			[]string{"Required value: " + path + ".metrics[0].pods"}},
		{"a behavior is one of Kubernetes", autoscaling(func(a *model.ModelBoxAutoscaling) {
			a.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleDown: &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: ptr.To[int32](3601)}}
		}), []string{"Invalid value: " + path + ".behavior.scaleDown.stabilizationWindowSeconds"}},

		{"one pod has a volume, and several are asked for", all(scaledTo(1), storageModes(corev1.ReadWriteOncePod), plain), []string{"Forbidden: spec.storage[0].accessModes"}},
		{"one pod has a volume, and one is asked for", all(scaledTo(1), storageModes(corev1.ReadWriteOncePod), upTo(1)), nil},
	})
}
