// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package workloadpermission

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

var (
	// workloads stands for the resource of a box's own workload.
	workloads  = appsv1.SchemeGroupVersion.WithResource("workloads")
	services   = corev1.SchemeGroupVersion.WithResource("services")
	configMaps = corev1.SchemeGroupVersion.WithResource("configmaps")
	claims     = corev1.SchemeGroupVersion.WithResource("persistentvolumeclaims")
	ingresses  = networkingv1.SchemeGroupVersion.WithResource("ingresses")
	httpRoutes = gatewayv1.SchemeGroupVersion.WithResource("httproutes")

	autoscalers       = autoscalingv2.SchemeGroupVersion.WithResource("horizontalpodautoscalers")
	disruptionBudgets = policyv1.SchemeGroupVersion.WithResource("poddisruptionbudgets")

	endpointSlices = discoveryv1.SchemeGroupVersion.WithResource("endpointslices")
	modelBoxes     = modelv1.SchemeGroupVersion.WithResource("modelboxes")
	pods           = corev1.SchemeGroupVersion.WithResource("pods")
)

// workloadResource returns the resource that workloads stands for.
func workloadResource(workload modelv1.Workload) schema.GroupVersionResource {
	switch workload {
	case modelv1.WorkloadStatefulSet:
		return appsv1.SchemeGroupVersion.WithResource("statefulsets")
	case modelv1.WorkloadDaemonSet:
		return appsv1.SchemeGroupVersion.WithResource("daemonsets")
	default:
		return appsv1.SchemeGroupVersion.WithResource("deployments")
	}
}

// permission is one that Kubernetes asks for a workload, in the namespace of the box.
type permission struct {
	verb     string
	resource schema.GroupVersionResource
	// name is that of the one object that it is about; empty for every object.
	name string
	// subresource is that of the object, or of every object, that it is about; empty for the object itself.
	subresource string
}

// String words it as the refusals of an API server do.
func (p permission) String() string {
	resource := p.resource.Resource
	if p.subresource != "" {
		resource += "/" + p.subresource
	}
	text := fmt.Sprintf("%s resource %q", p.verb, resource)
	if p.name != "" {
		text += fmt.Sprintf(" named %q", p.name)
	}
	return fmt.Sprintf("%s in API group %q", text, p.resource.Group)
}

// The permissions that Kubernetes asks for what runs, for how it is exposed, for its files, for what is about both of the
// first, for what runs with claims of its own, for what leads HTTP to it, for what scales it, and for what keeps it from being
// evicted.
var (
	toRun       = []permission{{verb: "create", resource: workloads}}
	toExpose    = []permission{{verb: "create", resource: services}}
	toConfigure = []permission{{verb: "create", resource: configMaps}}
	toDoBoth    = []permission{{verb: "create", resource: workloads}, {verb: "create", resource: services}}
	toClaim     = []permission{{verb: "create", resource: workloads}, {verb: "create", resource: claims}}
	toLeadIn    = []permission{{verb: "create", resource: ingresses}}
	toRoute     = []permission{{verb: "create", resource: httpRoutes}}

	toAutoscale       = []permission{{verb: "create", resource: autoscalers}}
	toLimitDisruption = []permission{{verb: "create", resource: disruptionBudgets}}
)

// toAdopt are the permissions for taking over what there is already: it becomes what the box says, and goes with it.
func toAdopt(resource schema.GroupVersionResource, name string) []permission {
	return []permission{{verb: "update", resource: resource, name: name}, {verb: "delete", resource: resource, name: name}}
}

// forWorkload returns the permissions with the resource that workloads stands for in place of it.
func forWorkload(permissions []permission, resource schema.GroupVersionResource) []permission {
	resolved := slices.Clone(permissions)
	for i := range resolved {
		if resolved[i].resource == workloads {
			resolved[i].resource = resource
		}
	}
	return resolved
}
