// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"bytes"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// networkKey is where the network is stored that the tests have.
const networkKey = "/registry/model.github.com/networks/shop/web"

// putNetwork stores a network that has the name and the namespace of a box, and returns what is stored.
func (f *fixture) putNetwork() []byte {
	f.t.Helper()
	network := &model.Network{
		ObjectMeta: metav1.ObjectMeta{Namespace: testNamespace, Name: "web", UID: "network-uid"},
		Spec:       model.NetworkSpec{CIDR: "192.168.0.0/16", Gateway: "192.168.0.1"},
	}
	stored, err := runtime.Encode(f.config.Boxes.StorageConfig.Codec, network)
	if err != nil {
		f.t.Fatal(err)
	}
	if _, err := f.store.client.Put(f.t.Context(), networkKey, string(stored)); err != nil {
		f.t.Fatal(err)
	}
	return stored
}

// A store that has networks and no boxes is one without boxes, and what is in it besides boxes stays as it is.
func TestNetworksAreNoBoxes(t *testing.T) {
	web := box("web", "web-uid")
	known := Position{Identity: Identity{UID: "another-store"}, Revision: 5}
	for _, row := range []struct {
		name     string
		children []runtime.Object
		mark     *Position
		want     Situation
		boxes    int
	}{
		{"in a cluster that knows of no store and has no Deployment of a box", nil, nil, New, 0},
		{"in a cluster that has the Deployment of a box", []runtime.Object{deploymentOf(t, web)}, nil, Empty, 1},
		{"in a cluster that knows another store", nil, &known, Empty, 0},
		{"in a cluster that knows another store and has the Deployment of a box", []runtime.Object{deploymentOf(t, web)}, &known, Empty, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newFixture(t, row.children...)
			stored := f.putNetwork()
			if row.mark != nil {
				f.setLease(*row.mark)
			}
			f.serve(row.want)
			if boxes := f.stored(); len(boxes) != row.boxes {
				t.Errorf("the store has %d boxes, want %d", len(boxes), row.boxes)
			}
			f.expectNetwork(stored)
			// From the next start on it is the store that the cluster knows.
			f.serve(Current)
			f.expectNetwork(stored)
		})
	}
}

// expectNetwork checks that the network is stored as it was.
func (f *fixture) expectNetwork(want []byte) {
	f.t.Helper()
	response, err := f.store.client.Get(f.t.Context(), networkKey)
	if err != nil {
		f.t.Fatal(err)
	}
	if len(response.Kvs) != 1 || !bytes.Equal(response.Kvs[0].Value, want) {
		f.t.Errorf("the network is stored as %v, want %q", response.Kvs, want)
	}
}

// A network is not recorded, and may be lost: a box that it owned would be deleted with it. The box loses the owner
// instead, also where the network is still there.
func TestRecoveredBoxesAreNotOwnedByNetworks(t *testing.T) {
	web := box("web", "web-uid", func(box *modelv1.ModelBox) {
		box.OwnerReferences = []metav1.OwnerReference{
			{APIVersion: "model.github.com/v1", Kind: "Network", Name: "web", UID: types.UID("network-uid")},
			{APIVersion: "example.com/v1", Kind: "Shop", Name: "web", UID: types.UID("shop-uid")},
		}
	})
	f := newFixture(t, deploymentOf(t, web))
	f.putNetwork()
	f.serve(Empty)
	restored := f.stored()["web"]
	if owners := restored.OwnerReferences; len(owners) != 1 || owners[0].Kind != "Shop" {
		t.Errorf("the box has the owners %v", owners)
	}
}
