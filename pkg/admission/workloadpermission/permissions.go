// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package workloadpermission

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	deployments = appsv1.SchemeGroupVersion.WithResource("deployments")
	services    = corev1.SchemeGroupVersion.WithResource("services")
)

// right is one that Kubernetes asks for a workload, in the namespace of the box.
type right struct {
	verb     string
	resource schema.GroupVersionResource
	// name is that of the one object that it is about; empty for every object.
	name string
}

// String words it as the refusals of an API server do.
func (r right) String() string {
	text := fmt.Sprintf("%s resource %q", r.verb, r.resource.Resource)
	if r.name != "" {
		text = fmt.Sprintf("%s resource %q named %q", r.verb, r.resource.Resource, r.name)
	}
	return fmt.Sprintf("%s in API group %q", text, r.resource.Group)
}

// The rights that Kubernetes asks for what runs, for how it is exposed, and for what is about both.
var (
	toRun    = []right{{verb: "create", resource: deployments}}
	toExpose = []right{{verb: "create", resource: services}}
	toDoBoth = []right{{verb: "create", resource: deployments}, {verb: "create", resource: services}}
)

// toAdopt are the rights for taking over what there is already: it becomes what the box says, and goes with it.
func toAdopt(resource schema.GroupVersionResource, name string) []right {
	return []right{{"update", resource, name}, {"delete", resource, name}}
}
