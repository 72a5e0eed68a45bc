// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package workloadpermission

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/childkinds"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

var (
	// workloads is replaced by the resource of the workload of the box: see forWorkload.
	workloads  = appsv1.SchemeGroupVersion.WithResource("workloads")
	services   = childkinds.Service.GroupVersionResource()
	configMaps = childkinds.ConfigMap.GroupVersionResource()
	claims     = childkinds.PersistentVolumeClaim.GroupVersionResource()
	ingresses  = childkinds.Ingress.GroupVersionResource()
	httpRoutes = childkinds.HTTPRoute.GroupVersionResource()
	grpcRoutes = childkinds.GRPCRoute.GroupVersionResource()

	autoscalers       = childkinds.HorizontalPodAutoscaler.GroupVersionResource()
	disruptionBudgets = childkinds.PodDisruptionBudget.GroupVersionResource()
	networkPolicies   = childkinds.NetworkPolicy.GroupVersionResource()

	jobs           = childkinds.Job.GroupVersionResource()
	endpointSlices = discoveryv1.SchemeGroupVersion.WithResource("endpointslices")
	modelBoxes     = modelv1.SchemeGroupVersion.WithResource("modelboxes")
	pods           = corev1.SchemeGroupVersion.WithResource("pods")
)

// workloadResource returns the resource of a workload.
func workloadResource(workload modelv1.Workload) schema.GroupVersionResource {
	switch workload {
	case modelv1.WorkloadStatefulSet:
		return childkinds.StatefulSet.GroupVersionResource()
	case modelv1.WorkloadDaemonSet:
		return childkinds.DaemonSet.GroupVersionResource()
	case modelv1.WorkloadJob:
		return childkinds.Job.GroupVersionResource()
	case modelv1.WorkloadCronJob:
		return childkinds.CronJob.GroupVersionResource()
	default:
		return childkinds.Deployment.GroupVersionResource()
	}
}

// permission is a permission in the namespace of the box that Kubernetes requires for a child.
type permission struct {
	verb     string
	resource schema.GroupVersionResource
	// name is the name of an object. It is empty for all objects.
	name string
	// subresource is a subresource of the object. It is empty for the object itself.
	subresource string
}

// String returns the permission in the words of a refusal of an API server.
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

// The permissions for the children of boxes that Kubernetes itself requires. Labels and annotations of a box are on its workload and
// on its Service, so that they need toDoBoth.
var (
	toRun       = []permission{{verb: "create", resource: workloads}}
	toExpose    = []permission{{verb: "create", resource: services}}
	toRunJobs   = []permission{{verb: "create", resource: jobs}}
	toConfigure = []permission{{verb: "create", resource: configMaps}}
	toDoBoth    = []permission{{verb: "create", resource: workloads}, {verb: "create", resource: services}}
	toClaim     = []permission{{verb: "create", resource: workloads}, {verb: "create", resource: claims}}
	toLeadIn    = []permission{{verb: "create", resource: ingresses}}
	toRoute     = []permission{{verb: "create", resource: httpRoutes}}
	toRouteGRPC = []permission{{verb: "create", resource: grpcRoutes}}

	toAutoscale       = []permission{{verb: "create", resource: autoscalers}}
	toLimitDisruption = []permission{{verb: "create", resource: disruptionBudgets}}
	toLimitTraffic    = []permission{{verb: "create", resource: networkPolicies}}
)

// toAdopt returns the permissions to adopt an existing object: the box changes it, and the garbage collector deletes it with the
// box.
func toAdopt(resource schema.GroupVersionResource, name string) []permission {
	return []permission{{verb: "update", resource: resource, name: name}, {verb: "delete", resource: resource, name: name}}
}

// forWorkload returns the permissions with the resource in place of workloads.
func forWorkload(permissions []permission, resource schema.GroupVersionResource) []permission {
	resolved := slices.Clone(permissions)
	for i := range resolved {
		if resolved[i].resource == workloads {
			resolved[i].resource = resource
		}
	}
	return resolved
}
