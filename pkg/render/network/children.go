// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package network renders networks: the NetworkAttachmentDefinition by which pods are attached to one.
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

// Kind is that of networks, as owner references have it.
var Kind = modelv1.SchemeGroupVersion.WithKind("Network")

// ControllingNetwork returns the reference to the network that an object names as its controller, nil where it names none.
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

// IsApplyConfiguration makes it a runtime.ApplyConfiguration.
func (*definition) IsApplyConfiguration() {}

// Children returns the objects that the network asks for in the form that server-side apply takes, each with
// modelv1.RenderHashAnnotation, the Record of the network and a controller owner reference to it. The network has to be
// defaulted and valid; one that leaves no address for a pod is ErrNoAddresses.
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
	// The record is no part of the hash: a network of which nothing but its metadata changes asks for nothing else.
	record, err := Record(network)
	if err != nil {
		return nil, err
	}
	render.Annotate(child, modelv1.RecordAnnotation, record)
	return []*unstructured.Unstructured{child}, nil
}
