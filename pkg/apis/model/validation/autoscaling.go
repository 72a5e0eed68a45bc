// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	corevalidation "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/core/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// validateAutoscaling validates the autoscaler of a box. ValidateUtilization validates the requests of the pods.
func validateAutoscaling(spec *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	autoscaling := spec.Autoscaling
	if autoscaling == nil {
		return nil
	}
	path = path.Child("autoscaling")
	if spec.Workload == model.WorkloadDaemonSet {
		return field.ErrorList{field.Forbidden(path, MustNotUseReplicasWithDaemonSet)}
	}
	errs := slices.Concat(
		corevalidation.ValidateHorizontalPodAutoscalerSpec(&autoscalingv2.HorizontalPodAutoscalerSpec{
			MinReplicas: autoscaling.MinReplicas,
			MaxReplicas: autoscaling.MaxReplicas,
			Metrics:     autoscaling.Metrics,
			Behavior:    autoscaling.Behavior,
		}, path),
		validateUtilizationPercent(autoscaling.CPU, path.Child("cpu")),
		validateUtilizationPercent(autoscaling.Memory, path.Child("memory")),
	)
	if autoscaling.CPU == nil && autoscaling.Memory == nil && len(autoscaling.Metrics) == 0 {
		errs = append(errs, field.Required(path, mustHaveMetric))
	}
	return errs
}

func validateUtilizationPercent(percent *int32, path *field.Path) field.ErrorList {
	if percent == nil || *percent > 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *percent, mustBePercentage)}
}

// ValidateUtilization requires that the containers have a request for each resource whose utilization the autoscaler uses. Without
// it, the autoscaler cannot compute the utilization. The spec, which is at path, is valid, and pod is the spec of the rendered
// pods.
func ValidateUtilization(spec *model.ModelBoxSpec, pod *corev1.PodSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	utilizations := utilizationsOf(spec.Autoscaling, path.Child("autoscaling"))
	for _, target := range validate.Each(utilizations, &errs) {
		var missing []string
		for _, name := range containersWithoutRequest(pod, target) {
			missing = append(missing, requestField(spec, name, target.resource, path))
		}
		if len(missing) > 0 {
			detail := MustHaveRequests(target.resource, missing)
			if target.container != "" {
				detail = mustHaveRequest(target.resource, target.container, missing)
			}
			errs = append(errs, field.Invalid(target.path, target.percent, detail))
		}
	}
	return errs
}

// utilization is a target of the autoscaler, in percent of the requests of containers.
type utilization struct {
	resource corev1.ResourceName
	// container is the only container of the target. It is empty for all containers.
	container string
	percent   int32
	path      *field.Path
}

func utilizationsOf(autoscaling *model.ModelBoxAutoscaling, path *field.Path) []utilization {
	var found []utilization
	add := func(resource corev1.ResourceName, container string, percent *int32, path *field.Path) {
		if percent != nil {
			found = append(found, utilization{resource, container, *percent, path})
		}
	}
	add(corev1.ResourceCPU, "", autoscaling.CPU, path.Child("cpu"))
	add(corev1.ResourceMemory, "", autoscaling.Memory, path.Child("memory"))
	for i := range autoscaling.Metrics {
		metricPath := path.Child("metrics").Index(i)
		if source := autoscaling.Metrics[i].Resource; source != nil {
			add(source.Name, "", source.Target.AverageUtilization, metricPath.Child("resource", "target", "averageUtilization"))
		}
		if source := autoscaling.Metrics[i].ContainerResource; source != nil {
			add(source.Name, source.Container, source.Target.AverageUtilization, metricPath.Child("containerResource", "target", "averageUtilization"))
		}
	}
	return found
}

// containersWithoutRequest returns the names of the containers that need a request and have none. A request of the pod itself
// counts for all its containers.
func containersWithoutRequest(pod *corev1.PodSpec, target utilization) []string {
	if target.container == "" && pod.Resources != nil && hasRequest(pod.Resources, target.resource) {
		return nil
	}
	var names []string
	for _, container := range runningContainers(pod) {
		isMeant := target.container == "" || target.container == container.Name
		if isMeant && !hasRequest(&container.Resources, target.resource) {
			names = append(names, container.Name)
		}
	}
	return names
}

// runningContainers returns the containers and the sidecars of the pod.
func runningContainers(pod *corev1.PodSpec) []corev1.Container {
	containers := slices.Clone(pod.Containers)
	for i := range pod.InitContainers {
		if corevalidation.IsRestartableInitContainer(&pod.InitContainers[i]) {
			containers = append(containers, pod.InitContainers[i])
		}
	}
	return containers
}

// hasRequest returns whether there is a request or a limit, which is the default of the request.
func hasRequest(resources *corev1.ResourceRequirements, name corev1.ResourceName) bool {
	_, isRequested := resources.Requests[name]
	_, isLimited := resources.Limits[name]
	return isRequested || isLimited
}

// requestField returns the path of the field that sets the request of a container. The spec of the box is at path.
func requestField(spec *model.ModelBoxSpec, container string, resource corev1.ResourceName, path *field.Path) string {
	request := func(path *field.Path) string { return path.Child("resources", "requests", string(resource)).String() }
	if container == spec.Name {
		return request(path) + orResourceType(resource, path)
	}
	found := fmt.Sprintf("the request of container %q", container)
	use := func(other *corev1.Container, path *field.Path) {
		if other.Name == container {
			found = request(path)
		}
	}
	if spec.PodTemplate != nil {
		eachContainer(spec.PodTemplate.Spec.Containers, spec.PodTemplate.Spec.InitContainers, path.Child("podTemplate", "spec"), use)
	}
	eachContainer(spec.Containers, spec.InitContainers, path, use)
	return found
}

// orResourceType names the other field that sets requests of the main container, if it sets the resource.
func orResourceType(resource corev1.ResourceName, path *field.Path) string {
	if resource != corev1.ResourceCPU && resource != corev1.ResourceMemory {
		return ""
	}
	return " or " + path.Child("resourceType").String()
}
