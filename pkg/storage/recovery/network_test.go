// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/storage"
	metadatafake "k8s.io/client-go/metadata/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/networkattachment"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
	networkrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/network"
)

// network returns a Network whose condition Applied is True.
func network(name string, uid types.UID, changes ...func(*modelv1.Network)) *modelv1.Network {
	network := &modelv1.Network{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: testNamespace, Name: name, UID: uid, Generation: 1,
			CreationTimestamp: metav1.NewTime(time.Unix(1_700_000_000, 0)),
			Labels:            map[string]string{"example.com/applied-by": "gitops"},
			Finalizers:        []string{modelv1.NetworkProtectionFinalizer},
		},
		Spec: modelv1.NetworkSpec{CIDR: "192.168.0.0/16", Gateway: "192.168.0.1"},
	}
	network.Status.Conditions = []metav1.Condition{{Type: modelv1.ConditionApplied, Status: metav1.ConditionTrue, LastTransitionTime: metav1.Now()}}
	modelv1.SetObjectDefaults_Network(network)
	for _, change := range changes {
		change(network)
	}
	return network
}

// atNetworkGeneration returns a change of a Network to a later generation.
func atNetworkGeneration(generation int64) func(*modelv1.Network) {
	return func(network *modelv1.Network) {
		network.Generation = generation
		network.Spec.MTU = int32(1400 + generation)
	}
}

// definitionOf returns the NetworkAttachmentDefinition of a Network.
func definitionOf(t *testing.T, network *modelv1.Network, changes ...func(*metav1.PartialObjectMetadata)) *metav1.PartialObjectMetadata {
	t.Helper()
	record, err := networkrender.Record(network)
	if err != nil {
		t.Fatal(err)
	}
	definition := &metav1.PartialObjectMetadata{
		TypeMeta: metav1.TypeMeta{APIVersion: networkattachment.Kind.GroupVersion().String(), Kind: networkattachment.Kind.Kind},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: network.Namespace, Name: network.Name,
			Labels:          map[string]string{render.ManagedByLabel: render.ManagedBy},
			Annotations:     map[string]string{modelv1.RecordAnnotation: record},
			OwnerReferences: []metav1.OwnerReference{ownedByNetwork(network)},
		},
	}
	for _, change := range changes {
		change(definition)
	}
	return definition
}

func ownedByNetwork(network *modelv1.Network) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "model.github.com/v1", Kind: "Network", Name: network.Name, UID: network.UID, Controller: ptr.To(true)}
}

// serveNoDefinitions makes the cluster answer that it does not serve NetworkAttachmentDefinitions.
func (f *fixture) serveNoDefinitions() {
	f.config.MetadataClient.(*metadatafake.FakeMetadataClient).PrependReactor("list", networkattachment.Resource.Resource,
		func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewNotFound(networkattachment.Resource.GroupResource(), "")
		})
}

// putNetworks stores Networks directly.
func (f *fixture) putNetworks(networks ...*modelv1.Network) {
	f.t.Helper()
	for _, network := range networks {
		stored, err := newNetwork(network)
		if err != nil {
			f.t.Fatal(err)
		}
		if meta.IsStatusConditionTrue(network.Status.Conditions, modelv1.ConditionApplied) {
			stored.Status.Conditions = network.Status.Conditions
		}
		if err := f.networks.create(f.t.Context(), stored); err != nil {
			f.t.Fatal(err)
		}
	}
}

// storedNetworks returns the Networks in the store by name.
func (f *fixture) storedNetworks() map[string]model.Network {
	f.t.Helper()
	list := &model.NetworkList{}
	if err := f.networks.storage.GetList(f.t.Context(), f.networks.prefix+"/", storage.ListOptions{Predicate: storage.Everything, Recursive: true}, list); err != nil {
		f.t.Fatal(err)
	}
	stored := map[string]model.Network{}
	for _, network := range list.Items {
		stored[network.Name] = network
	}
	return stored
}

func TestNetworksAreRecovered(t *testing.T) {
	lan := network("lan", "lan-uid", atNetworkGeneration(4))
	f := newFixture(t,
		definitionOf(t, lan, func(definition *metav1.PartialObjectMetadata) { definition.Labels[render.ManagedByLabel] = "another" }),
		deploymentOf(t, box("web", "web-uid", func(box *modelv1.ModelBox) { box.Spec.Networks = []string{"lan"} })),
		definitionOf(t, network("orphaned", "orphaned-uid"), func(definition *metav1.PartialObjectMetadata) { definition.OwnerReferences = nil }),
		definitionOf(t, network("ending", "ending-uid"), func(definition *metav1.PartialObjectMetadata) {
			definition.DeletionTimestamp, definition.Finalizers = ptr.To(metav1.Now()), []string{"example.com/wait"}
		}),
	)
	f.serve(Empty)

	stored := f.storedNetworks()
	expectNames(t, stored, "lan")
	got := stored["lan"]
	want, err := newNetwork(lan)
	if err != nil {
		t.Fatal(err)
	}
	got.ResourceVersion, got.Status, want.Status = "", model.NetworkStatus{}, model.NetworkStatus{}
	if diff := cmp.Diff(*want, got); diff != "" {
		t.Errorf("the network: -want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"lan"}, f.stored()["web"].Spec.Networks); diff != "" {
		t.Errorf("networks of the box: -want +got:\n%s", diff)
	}
	f.serve(Current)
}

func TestAStoreOfNetworksThatIsBehindIsBroughtUpToDate(t *testing.T) {
	for _, isServed := range []bool{true, false} {
		t.Run(fmt.Sprintf("definitions are served: %t", isServed), func(t *testing.T) {
			f := newFixture(t,
				definitionOf(t, network("changed", "1", atNetworkGeneration(2))), definitionOf(t, network("created", "2")),
				definitionOf(t, network("newer", "3")),
			)
			f.putNetworks(network("changed", "1"), network("newer", "3", atNetworkGeneration(5)), network("deleted", "4"),
				network("waiting", "5", func(network *modelv1.Network) { network.Status.Conditions = nil }))
			own := f.serve(Current)
			f.setLease(Position{Identity: Identity{UID: "later", Ancestors: []types.UID{own.Identity.UID}}})
			if !isServed {
				f.serveNoDefinitions()
				f.serve(Behind)
				// The cluster deleted the NetworkAttachmentDefinitions with their CustomResourceDefinition.
				expectNames(t, f.storedNetworks(), "changed", "deleted", "newer", "waiting")
				return
			}
			f.serve(Behind)
			stored := f.storedNetworks()
			expectNames(t, stored, "changed", "created", "newer", "waiting")
			for name, want := range map[string]int64{"changed": 2, "created": 1, "newer": 5} {
				if got := stored[name].Generation; got != want {
					t.Errorf("network %s has generation %d, want %d", name, got, want)
				}
			}
		})
	}
}

func TestAForeignStoreKeepsItsNetworks(t *testing.T) {
	f := newFixture(t, definitionOf(t, network("lan", "lan-uid")))
	f.putNetworks(network("lan", "other-uid"), network("stranger", "stranger-uid"))
	f.setLease(another)
	f.serve(Foreign)
	stored := f.storedNetworks()
	expectNames(t, stored, "lan", "stranger")
	if got := stored["lan"].UID; got != "lan-uid" {
		t.Errorf("the network is %s, want the network that pods are attached to", got)
	}
}

// A store that has Networks and no boxes is not Empty.
func TestNetworksWithoutBoxesAreAStore(t *testing.T) {
	lan := network("lan", "lan-uid")
	for _, row := range []struct {
		name     string
		children []runtime.Object
		stored   []*modelv1.Network
		mark     *Position
		want     Situation
	}{
		{"stored while the Lease names no store", nil, []*modelv1.Network{lan}, nil, Current},
		{"stored while the Lease names another store", nil, []*modelv1.Network{lan}, &another, Foreign},
		{"recorded while the Lease names no store", []runtime.Object{definitionOf(t, lan)}, nil, nil, Empty},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newFixture(t, row.children...)
			f.putNetworks(row.stored...)
			if row.mark != nil {
				f.setLease(*row.mark)
			}
			f.serve(row.want)
			expectNames(t, f.storedNetworks(), "lan")
		})
	}
}

func TestDefinitionsOfLostNetworksAreNotDeleted(t *testing.T) {
	lan := network("lan", "lan-uid")
	for _, row := range []struct {
		name   string
		change func(*metav1.PartialObjectMetadata)
	}{
		{"of an earlier release", func(definition *metav1.PartialObjectMetadata) { definition.Annotations = nil }},
		{"with a record that cannot be read", func(definition *metav1.PartialObjectMetadata) { definition.Annotations[modelv1.RecordAnnotation] = "?" }},
		{"with the record of another network", func(definition *metav1.PartialObjectMetadata) { definition.OwnerReferences[0].UID = "9" }},
	} {
		t.Run(row.name, func(t *testing.T) {
			definition := definitionOf(t, lan, row.change)
			f := newFixture(t, definition)
			f.setLease(another)
			expectAbsent(t, f, Empty, AbsentOwner{"networks", testNamespace, "lan", definition.OwnerReferences[0].UID})
			// The Network is in a snapshot that is restored.
			f.putNetworks(network("lan", definition.OwnerReferences[0].UID))
			f.expectStillAbsent()
		})
	}
}

func TestAClusterWithoutDefinitionsHasNoRecordsOfNetworks(t *testing.T) {
	f := newFixture(t, deploymentOf(t, box("web", "web-uid")))
	f.serveNoDefinitions()
	f.serve(Empty)
	expectNames(t, f.stored(), "web")
	expectNames(t, f.storedNetworks())
}

// A cluster that answers with an error may have NetworkAttachmentDefinitions.
func TestStoreIsNotServedWhenDefinitionsCannotBeListed(t *testing.T) {
	f := newFixture(t)
	f.config.MetadataClient.(*metadatafake.FakeMetadataClient).PrependReactor("list", networkattachment.Resource.Resource,
		func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewForbidden(networkattachment.Resource.GroupResource(), "", nil)
		})
	expectRefused(t, f, "network-attachment-definitions.k8s.cni.cncf.io", "forbidden")
}

// The garbage collector would delete a box whose owner is a lost Network.
func TestRecoveredBoxBelongsToItsNetworkIfThereIsOne(t *testing.T) {
	lan := network("lan", "lan-uid")
	for _, row := range []struct {
		name     string
		recorded []runtime.Object
		want     []types.UID
	}{
		{"the network is recorded", []runtime.Object{definitionOf(t, lan)}, []types.UID{"lan-uid", "shop-uid"}},
		{"the network was lost", nil, []types.UID{"shop-uid"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newFixture(t, append(row.recorded, deploymentOf(t, box("web", "web-uid", func(box *modelv1.ModelBox) {
				box.OwnerReferences = []metav1.OwnerReference{ownedByNetwork(lan), {APIVersion: "example.com/v1", Kind: "Shop", Name: "web", UID: "shop-uid"}}
			})))...)
			f.serve(Empty)
			expectOwners(t, f.stored()["web"], row.want...)
		})
	}
}
