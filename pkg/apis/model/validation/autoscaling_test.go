// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
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
		{"the least number is 0 with an external metric", autoscaling(func(a *model.ModelBoxAutoscaling) {
			a.MinReplicas, a.Metrics = ptr.To[int32](0), []autoscalingv2.MetricSpec{{Type: autoscalingv2.ExternalMetricSourceType, External: &autoscalingv2.ExternalMetricSource{
				Metric: autoscalingv2.MetricIdentifier{Name: "queue-messages"},
				Target: autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: ptr.To(resource.MustParse("10"))}}}}
		}), nil},
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

func TestUtilization(t *testing.T) {
	requests := func(names ...corev1.ResourceName) corev1.ResourceRequirements {
		list := corev1.ResourceList{}
		for _, name := range names {
			list[name] = resource.MustParse("1")
		}
		return corev1.ResourceRequirements{Requests: list}
	}
	main := func(resources corev1.ResourceRequirements) corev1.Container {
		return corev1.Container{Name: "web", Resources: resources}
	}
	side := corev1.Container{Name: "side"}
	sidecar := corev1.Container{Name: "sidecar", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}
	containers := func(containers ...corev1.Container) corev1.PodSpec { return corev1.PodSpec{Containers: containers} }
	ofContainer := func(name string) *model.ModelBoxAutoscaling {
		return &model.ModelBoxAutoscaling{Metrics: []autoscalingv2.MetricSpec{{Type: "ContainerResource", ContainerResource: &autoscalingv2.ContainerResourceMetricSource{
			Name: "cpu", Container: name, Target: autoscalingv2.MetricTarget{Type: "Utilization", AverageUtilization: ptr.To[int32](60)},
		}}}}
	}
	ofResource := func(name corev1.ResourceName, target autoscalingv2.MetricTarget) *model.ModelBoxAutoscaling {
		return &model.ModelBoxAutoscaling{Metrics: []autoscalingv2.MetricSpec{{Type: "Resource", Resource: &autoscalingv2.ResourceMetricSource{Name: name, Target: target}}}}
	}
	cpu, memory := &model.ModelBoxAutoscaling{CPU: ptr.To[int32](70)}, &model.ModelBoxAutoscaling{Memory: ptr.To[int32](80)}
	amount := resource.MustParse("1")
	const setMain = "spec.resources.requests.cpu or spec.resourceType"
	share := func(fields ...string) string {
		return "spec.autoscaling.cpu: Invalid value: 70: " + MustHaveRequests("cpu", fields)
	}
	for _, row := range []struct {
		name        string
		autoscaling *model.ModelBoxAutoscaling
		pod         corev1.PodSpec
		want        []string
	}{
		{"the main container requests CPU", cpu, containers(main(requests("cpu"))), nil},
		{"a limit is a request as well", cpu, containers(main(corev1.ResourceRequirements{Limits: requests("cpu").Requests})), nil},
		{"the main container requests none", cpu, containers(main(requests("memory"))), []string{share(setMain)}},
		{"the main container requests no memory", memory, containers(main(requests("cpu"))), []string{
			"spec.autoscaling.memory: Invalid value: 80: " + MustHaveRequests("memory", []string{"spec.resources.requests.memory or spec.resourceType"})}},
		{"a container beside it requests none", cpu, containers(main(requests("cpu")), side), []string{share("spec.containers[0].resources.requests.cpu")}},
		{"a sidecar requests none", cpu, corev1.PodSpec{Containers: []corev1.Container{main(requests("cpu"))}, InitContainers: []corev1.Container{sidecar}},
			[]string{share("spec.initContainers[1].resources.requests.cpu")}},
		{"an init container need not", cpu, corev1.PodSpec{Containers: []corev1.Container{main(requests("cpu"))}, InitContainers: []corev1.Container{{Name: "prepare"}}}, nil},
		{"a container of the overlay requests none", cpu, containers(main(requests("cpu")), corev1.Container{Name: "added"}),
			[]string{share("spec.podTemplate.spec.containers[0].resources.requests.cpu")}},
		{"several request none", cpu, containers(main(requests()), side), []string{share(setMain, "spec.containers[0].resources.requests.cpu")}},
		{"the pod requests CPU itself", cpu, corev1.PodSpec{Resources: ptr.To(requests("cpu")), Containers: []corev1.Container{main(requests()), side}}, nil},
		{"the pod requests something else itself", cpu, corev1.PodSpec{Resources: ptr.To(requests("memory")), Containers: []corev1.Container{main(requests())}}, []string{share(setMain)}},
		{"an amount needs no request", ofResource("cpu", autoscalingv2.MetricTarget{Type: "AverageValue", AverageValue: &amount}), containers(main(requests())), nil},
		{"a share in a metric needs one", ofResource("example.com/gpu", autoscalingv2.MetricTarget{Type: "Utilization", AverageUtilization: ptr.To[int32](50)}), containers(main(requests("cpu"))),
			[]string{"spec.autoscaling.metrics[0].resource.target.averageUtilization: Invalid value: 50: " + MustHaveRequests("example.com/gpu", []string{"spec.resources.requests.example.com/gpu"})}},
		{"utilization of a container needs a request of the container", ofContainer("web"), containers(main(requests()), side),
			[]string{"spec.autoscaling.metrics[0].containerResource.target.averageUtilization: Invalid value: 60: " + mustHaveRequest("cpu", "web", []string{setMain})}},
		{"and no request of another container", ofContainer("web"), containers(main(requests("cpu")), side), nil},
		{"an admission webhook may add the container", ofContainer("proxy"), containers(main(requests())), nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			spec := &validBox().Spec
			spec.Autoscaling = row.autoscaling
			spec.Containers = []corev1.Container{side}
			spec.InitContainers = []corev1.Container{{Name: "prepare"}, sidecar}
			spec.PodTemplate = &corev1.PodTemplateSpec{Spec: containers(corev1.Container{Name: "added"})}
			var got []string
			for _, err := range ValidateUtilization(spec, &row.pod, field.NewPath("spec")) {
				got = append(got, err.Error())
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
