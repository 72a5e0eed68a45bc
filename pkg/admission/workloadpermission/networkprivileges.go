// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package workloadpermission

import (
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/networkattachment"
)

// toAttach is the permission that Kubernetes asks for how pods are attached to a network.
var toAttach = []permission{{verb: "create", resource: networkattachment.Resource}}

// newNetworkPrivileges returns the privileges of a network that the old one does not have. There is none before a creation. All
// of a spec is one: a range of addresses alone is a route of the nodes.
func newNetworkPrivileges(network, old *model.Network) []privilege {
	var privileges []privilege
	if old == nil || !apiequality.Semantic.DeepEqual(network.Spec, old.Spec) {
		privileges = append(privileges, privilege{field.NewPath("spec"), "spec", toAttach})
	}
	if isAdoptionRequested(network) && (old == nil || !isAdoptionRequested(old)) {
		path := field.NewPath("metadata", "annotations").Key(modelv1.AdoptAnnotation)
		privileges = append(privileges, privilege{path, networkattachment.Resource.Resource, toAdopt(networkattachment.Resource, network.Name)})
	}
	return privileges
}
