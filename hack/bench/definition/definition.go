// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package definition makes the peer that most people would take instead: a CustomResourceDefinition with the fields of a
// box, from the schema that the server publishes.
package definition

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/utils/ptr"
)

// GroupVersion differs from the group and version of boxes, so that a cluster can serve both.
var GroupVersion = schema.GroupVersion{Group: "crd.bench.model.github.com", Version: "v1"}

// Name is the name of the definition.
var Name = "modelboxes." + GroupVersion.Group

// New returns the definition of custom resources like boxes, of which published is the schema with all references
// resolved.
func New(published *spec.Schema) (*apiextensionsv1.CustomResourceDefinition, error) {
	root, err := structural(published)
	if err != nil {
		return nil, fmt.Errorf("making a structural schema: %w", err)
	}
	for _, step := range []func(*apiextensionsv1.JSONSchemaProps) error{keepMetadata, addDefaults, addConstraints, addRules} {
		if err := step(root); err != nil {
			return nil, err
		}
	}
	return &apiextensionsv1.CustomResourceDefinition{
		TypeMeta:   metav1.TypeMeta{APIVersion: apiextensionsv1.SchemeGroupVersion.String(), Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{Name: Name},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: GroupVersion.Group,
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Plural: "modelboxes", Singular: "modelbox", Kind: "ModelBox", ListKind: "ModelBoxList",
			},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: GroupVersion.Version, Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: root},
				Subresources: &apiextensionsv1.CustomResourceSubresources{
					Status: &apiextensionsv1.CustomResourceSubresourceStatus{},
					Scale: &apiextensionsv1.CustomResourceSubresourceScale{
						SpecReplicasPath:   ".spec.replicas",
						StatusReplicasPath: ".status.replicas",
						LabelSelectorPath:  ptr.To(".status.selector"),
					},
				},
				AdditionalPrinterColumns: columns,
				SelectableFields:         []apiextensionsv1.SelectableField{{JSONPath: ".spec.image"}, {JSONPath: ".spec.serviceType"}},
			}},
		},
	}, nil
}

// columns are the columns of boxes that a path can express.
var columns = []apiextensionsv1.CustomResourceColumnDefinition{
	{Name: "Ready", Type: "integer", JSONPath: ".status.readyReplicas"},
	{Name: "Up-To-Date", Type: "integer", JSONPath: ".status.updatedReplicas"},
	{Name: "Status", Type: "string", JSONPath: ".status.conditions[?(@.type==\"Ready\")].reason"},
	{Name: "Image", Type: "string", JSONPath: ".spec.image"},
	{Name: "Address", Type: "string", JSONPath: ".status.address"},
	{Name: "Age", Type: "date", JSONPath: ".metadata.creationTimestamp"},
	{Name: "Workload", Type: "string", Priority: 1, JSONPath: ".spec.workload"},
	{Name: "Size", Type: "string", Priority: 1, JSONPath: ".spec.resourceType"},
	{Name: "Message", Type: "string", Priority: 1, JSONPath: ".status.conditions[?(@.type==\"Ready\")].message"},
	{Name: "Service", Type: "string", Priority: 1, JSONPath: ".spec.serviceType"},
	{Name: "Hosts", Type: "string", Priority: 1, JSONPath: ".spec.ingress.hosts"},
	{Name: "Autoscaling", Type: "integer", Priority: 1, JSONPath: ".spec.autoscaling.maxReplicas"},
}
