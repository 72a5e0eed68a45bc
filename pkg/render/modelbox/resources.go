// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// classes are the requests and the limits of the main container for each resource class.
var classes = map[modelv1.ResourceType]struct{ cpu, memory string }{
	modelv1.ResourceTypeSmall:  {cpu: "1", memory: "2Gi"},
	modelv1.ResourceTypeMedium: {cpu: "2", memory: "4Gi"},
	modelv1.ResourceTypeLarge:  {cpu: "4", memory: "8Gi"},
}

// resources returns the resources of the class of the box, or its own resources for the class custom.
func resources(spec *modelv1.ModelBoxSpec) corev1.ResourceRequirements {
	class, ok := classes[spec.ResourceType]
	if !ok {
		if spec.Resources == nil {
			return corev1.ResourceRequirements{}
		}
		return *spec.Resources
	}
	list := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse(class.cpu),
		corev1.ResourceMemory: resource.MustParse(class.memory),
	}
	return corev1.ResourceRequirements{Requests: list, Limits: list}
}
