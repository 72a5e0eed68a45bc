// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package network renders Networks: the NetworkAttachmentDefinition that attaches pods to a Network.
package network

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/networkattachment"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// Kind is the kind of Networks in owner references.
var Kind = modelv1.SchemeGroupVersion.WithKind("Network")

// ControllingNetwork returns the reference to the Network that controls an object, nil if there is none.
func ControllingNetwork(object metav1.Object) *metav1.OwnerReference {
	return render.ControllerOfKind(object, Kind.GroupKind())
}

// definition is the apply configuration of a NetworkAttachmentDefinition.
type definition struct {
	applymetav1.TypeMetaApplyConfiguration    `json:",inline"`
	*applymetav1.ObjectMetaApplyConfiguration `json:"metadata,omitempty"`

	Spec definitionSpec `json:"spec"`
}

type definitionSpec struct {
	// Config is a CNI configuration in JSON.
	Config string `json:"config"`
}

// IsApplyConfiguration implements runtime.ApplyConfiguration.
func (*definition) IsApplyConfiguration() {}

// Children returns the children of the Network for server-side apply. Each has modelv1.RenderHashAnnotation, the Record of the
// Network and a controller owner reference to it. The Network must be defaulted and valid. It returns ErrNoAddresses if the Network
// has no addresses for pods.
func Children(network *modelv1.Network) ([]*unstructured.Unstructured, error) {
	configuration, err := configurationOf(network)
	if err != nil {
		return nil, err
	}
	config, err := json.Marshal(configuration)
	if err != nil {
		return nil, fmt.Errorf("encoding the CNI configuration: %w", err)
	}
	kind := networkattachment.Kind
	child, err := render.WithHash(&definition{
		TypeMetaApplyConfiguration: *applymetav1.TypeMeta().WithAPIVersion(kind.GroupVersion().String()).WithKind(kind.Kind),
		ObjectMetaApplyConfiguration: applymetav1.ObjectMeta().
			WithName(network.Name).
			WithNamespace(network.Namespace).
			WithLabels(map[string]string{render.ManagedByLabel: render.ManagedBy}).
			WithOwnerReferences(render.OwnerReference(network, Kind)),
		Spec: definitionSpec{Config: string(config)},
	})
	if err != nil {
		return nil, err
	}
	// The record is not part of the hash: a change of only the metadata of the Network does not change the render.
	record, err := Record(network)
	if err != nil {
		return nil, err
	}
	render.Annotate(child, modelv1.RecordAnnotation, record)
	return []*unstructured.Unstructured{child}, nil
}
