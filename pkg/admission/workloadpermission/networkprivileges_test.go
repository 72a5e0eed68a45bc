// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package workloadpermission

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestNetworksNeedNetworkAttachmentDefinitions(t *testing.T) {
	const (
		create = "jane: create network-attachment-definitions.k8s.cni.cncf.io/ in default"
		update = "jane: update network-attachment-definitions.k8s.cni.cncf.io/lan in default"
		remove = "jane: delete network-attachment-definitions.k8s.cni.cncf.io/lan in default"

		forbidden = `networks.model.github.com "lan" is forbidden: `
		cannot    = `: sets up interfaces and routes on nodes, and user "jane" cannot `
		inGroup   = ` in API group "k8s.cni.cncf.io" in the namespace "default"`
		noCreate  = "spec" + cannot + `create resource "network-attachment-definitions"` + inGroup
		adopted   = "metadata.annotations[model.github.com/adopt]" + cannot
	)
	network := func(gateway string, changes ...func(*model.Network)) *model.Network {
		network := &model.Network{Spec: model.NetworkSpec{CIDR: "10.1.0.0/16", Gateway: gateway}}
		network.Namespace, network.Name = "default", "lan"
		for _, change := range changes {
			change(network)
		}
		return network
	}
	adopting := func(network *model.Network) {
		network.Annotations = map[string]string{modelv1.AdoptAnnotation: "true"}
	}
	labelled := func(network *model.Network) { network.Labels = map[string]string{"team": "shop"} }
	for _, row := range []struct {
		name         string
		granted      []string
		old, network *model.Network
		asked        []string
		err          string
	}{
		{"a new network", nil, nil, network("10.1.0.1"), []string{create}, noCreate},
		{"who may create one may", []string{create}, nil, network("10.1.0.1"), []string{create}, ""},
		{"another gateway", nil, network("10.1.0.1"), network("10.1.0.2"), []string{create}, noCreate},
		{"a label", nil, network("10.1.0.1"), network("10.1.0.1", labelled), nil, ""},
		{"an adopting network", []string{create}, nil, network("10.1.0.1", adopting), []string{create, update, remove},
			adopted + `update resource "network-attachment-definitions" named "lan"` + inGroup + "; " +
				adopted + `delete resource "network-attachment-definitions" named "lan"` + inGroup},
		{"a network that adopts from now on", []string{update, remove}, network("10.1.0.1"), network("10.1.0.1", adopting), []string{update, remove}, ""},
		{"a network that adopts already", nil, network("10.1.0.1", adopting), network("10.1.0.1", adopting, labelled), nil, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			permissions := &permissions{granted: map[string]bool{}}
			for _, granted := range row.granted {
				permissions.granted[granted] = true
			}
			plugin := newPlugin()
			plugin.SetUnconditionalAuthorizer(permissions)
			operation, old := admission.Create, runtime.Object(nil)
			if row.old != nil {
				operation, old = admission.Update, row.old
			}
			err := plugin.Validate(t.Context(), admission.NewAttributesRecord(row.network, old,
				modelv1.SchemeGroupVersion.WithKind("Network"), "default", "lan",
				modelv1.SchemeGroupVersion.WithResource("networks"), "", operation, nil, false, &user.DefaultInfo{Name: "jane"}), nil)
			got, want := "", ""
			if err != nil {
				got = err.Error()
			}
			if row.err != "" {
				want = forbidden + row.err
			}
			if got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if diff := cmp.Diff(row.asked, permissions.asked); diff != "" {
				t.Errorf("asked, -want +got:\n%s", diff)
			}
		})
	}
}

func TestNetworksOfABoxNeedItsWorkload(t *testing.T) {
	permissions := &permissions{}
	if err := validate(t, permissions, newBox(t, "networks: [lan]"), nil, ""); err == nil {
		t.Error("a user without the permission for Deployments attached pods to a network")
	}
	if diff := cmp.Diff([]string{createDeployments}, permissions.asked); diff != "" {
		t.Errorf("asked, -want +got:\n%s", diff)
	}
}
