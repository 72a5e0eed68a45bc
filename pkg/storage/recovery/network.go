// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"fmt"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/networkattachment"
	networkrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/network"
)

// networkKind is the kind of Networks. A Network is recorded in an annotation of its NetworkAttachmentDefinition.
var networkKind = &kind{
	noun:              "network",
	plural:            "networks",
	name:              "Network",
	resource:          "networks",
	replacedDirectory: "replaced-networks",
	newObject:         func() object { return &model.Network{} },
	newList:           func() runtime.Object { return &model.NetworkList{} },
	conditions:        func(network object) []metav1.Condition { return network.(*model.Network).Status.Conditions },
	setRecorded:       func(network, from object) { network.(*model.Network).Spec = from.(*model.Network).Spec },
	isSameRecorded: func(a, b object) bool {
		return apiequality.Semantic.DeepEqual(a.(*model.Network).Spec, b.(*model.Network).Spec)
	},
	controlling:  networkrender.ControllingNetwork,
	validateName: validation.ValidateNetworkName,
	listRecords:  eachDefinition,
	readRecord: func(definition metav1.Object) (metav1.Object, error) {
		value, err := recordAnnotation(definition)
		if err != nil {
			return nil, err
		}
		return networkrender.ReadRecord(value)
	},
	fromRecord: func(record metav1.Object) (object, error) { return newNetwork(record.(*modelv1.Network)) },
	recovered:  recoveredNetworks,
}

// newNetwork returns the internal Network of a record, ready to be stored.
func newNetwork(record *modelv1.Network) (*model.Network, error) {
	record = record.DeepCopy()
	modelv1.SetObjectDefaults_Network(record)
	network := &model.Network{}
	if err := modelv1.Convert_v1_Network_To_model_Network(record, network, nil); err != nil {
		return nil, fmt.Errorf("converting the record of network %s/%s: %w", record.Namespace, record.Name, err)
	}
	prepareRecorded(network)
	network.Status = model.NetworkStatus{Conditions: recoveredConditions("the network was recovered from its NetworkAttachmentDefinition, and the controller has not seen it since")}
	return network, nil
}

// eachDefinition calls visit for every NetworkAttachmentDefinition that a Network controls. It does nothing if the cluster does not
// serve NetworkAttachmentDefinitions.
func eachDefinition(ctx context.Context, cluster *cluster, owners *kind, visit func(child) error) error {
	isServed, err := servesDefinitions(ctx, cluster)
	if err != nil || !isServed {
		return err
	}
	// The only label of its own may have been changed, and there are few of them.
	return eachChild(ctx, cluster, networkattachment.Resource, "", owners, visit)
}

// servesDefinitions returns whether the cluster serves NetworkAttachmentDefinitions.
func servesDefinitions(ctx context.Context, cluster *cluster) (bool, error) {
	_, err := cluster.metadata.Resource(networkattachment.Resource).Namespace(cluster.namespace).List(ctx, metav1.ListOptions{Limit: 1})
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("checking whether the cluster serves %s: %w", networkattachment.Resource.GroupResource(), err)
	}
	return true, nil
}
