// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericregistrytest "k8s.io/apiserver/pkg/registry/generic/testing"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/registrytest"
)

var _ rest.StandardStorage = &REST{}

// newREST returns the store of a server where everybody may do everything.
func newREST(t testing.TB) (*registrytest.Backend, *REST) {
	t.Helper()
	backend := registrytest.NewBackend(t, model.Resource("networks"), &model.Network{})
	storage, err := NewStorage(backend.Scheme, backend.Options, authorizerfactory.NewAlwaysAllowAuthorizer())
	if err != nil {
		t.Fatal(err)
	}
	registrytest.Await(t, storage.Network.Store)
	return backend, storage.Network
}

// newNetwork returns a valid network.
func newNetwork(name, cidr, gateway string) *model.Network {
	return &model.Network{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name, Labels: map[string]string{"team": "shop"}},
		Spec:       model.NetworkSpec{CIDR: cidr, Gateway: gateway, Type: model.NetworkTypeBridge},
	}
}

func lan() *model.Network { return newNetwork("lan", "192.168.0.0/16", "192.168.0.1") }

// inDefault is the context of jane's request in the default namespace.
func inDefault(t testing.TB) context.Context {
	ctx := genericapirequest.WithUser(t.Context(), &user.DefaultInfo{Name: "jane"})
	return genericapirequest.WithNamespace(ctx, metav1.NamespaceDefault)
}

func create(ctx context.Context, t testing.TB, networks *REST, network *model.Network) *model.Network {
	t.Helper()
	created, err := networks.Create(ctx, network, rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return created.(*model.Network)
}

// awaitCache returns when the watch cache has what was written: a consistent list waits for it.
func awaitCache(t testing.TB, networks *REST) {
	t.Helper()
	if _, err := networks.List(inDefault(t), &metainternalversion.ListOptions{}); err != nil {
		t.Fatal(err)
	}
}

// tester has the suites that every registry of Kubernetes passes.
func tester(t *testing.T) *genericregistrytest.Tester {
	_, networks := newREST(t)
	return genericregistrytest.New(t, networks.Store)
}

func TestCreate(t *testing.T) {
	tester := tester(t)
	network := func(change func(*model.Network)) *model.Network {
		network := lan()
		network.Namespace = tester.TestNamespace()
		change(network)
		return network
	}
	tester.TestCreate(
		network(func(network *model.Network) { network.ObjectMeta = metav1.ObjectMeta{} }),
		network(func(network *model.Network) { network.Name = "Not_A_Name" }),
		network(func(network *model.Network) { network.Spec.CIDR = "192.168.0.5/16" }),
		network(func(network *model.Network) { network.Spec.Gateway = "" }),
	)
}

func TestUpdate(t *testing.T) {
	update := func(change func(*model.Network)) func(runtime.Object) runtime.Object {
		return func(object runtime.Object) runtime.Object {
			change(object.(*model.Network))
			return object
		}
	}
	tester(t).TestUpdate(lan(),
		update(func(network *model.Network) { network.Spec.Gateway = "192.168.0.2" }),
		update(func(network *model.Network) { network.Spec.Gateway = "10.0.0.1" }),
		update(func(network *model.Network) { network.Spec.CIDR = "192.0.0.0/8" }),
	)
}

func TestGet(t *testing.T) { tester(t).TestGet(lan()) }

func TestList(t *testing.T) { tester(t).TestList(lan()) }

func TestDelete(t *testing.T) { tester(t).TestDelete(lan()) }

func TestWatch(t *testing.T) {
	tester := tester(t)
	network := lan()
	network.Namespace = tester.TestNamespace()
	tester.TestWatch(network,
		[]labels.Set{{"team": "shop"}},
		[]labels.Set{{"team": "mail"}},
		[]fields.Set{{"metadata.name": "lan"}, {"metadata.namespace": network.Namespace}},
		[]fields.Set{{"metadata.name": "mail"}},
	)
}

func TestNames(t *testing.T) {
	_, networks := newREST(t)
	if got := networks.ShortNames(); !slices.Equal(got, []string{"mnet"}) {
		t.Errorf("short names: %q", got)
	}
	if got := networks.GetSingularName(); got != "network" {
		t.Errorf("singular: %q", got)
	}
	if !networks.NamespaceScoped() {
		t.Error("networks are not namespaced")
	}
}

func TestNetworksAreStoredAsProtobuf(t *testing.T) {
	backend, networks := newREST(t)
	created := create(inDefault(t), t, networks, lan())
	if created.Generation != 1 {
		t.Errorf("generation %d, want 1", created.Generation)
	}
	stored, err := backend.Etcd.Get(t.Context(), "/registry/model.github.com/networks/default/lan")
	if err != nil {
		t.Fatal(err)
	}
	if len(stored.Kvs) != 1 || !strings.HasPrefix(string(stored.Kvs[0].Value), "k8s\x00") {
		t.Errorf("stored is %v", stored.Kvs)
	}
}

func TestUpdateWithAnInvalidResourceVersionIsRefused(t *testing.T) {
	_, networks := newREST(t)
	network := create(inDefault(t), t, networks, lan()).DeepCopy()
	network.ResourceVersion = "abc"
	_, _, err := networks.Update(inDefault(t), "lan", rest.DefaultUpdatedObjectInfo(network),
		rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{})
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), `metadata.resourceVersion: Invalid value: "abc"`) {
		t.Errorf("got %v", err)
	}
}

// recorder keeps the warnings of a request.
type recorder []string

func (r *recorder) AddWarning(_, text string) { *r = append(*r, text) }

func TestOverlapsAreWarnedOfWithinANamespace(t *testing.T) {
	_, networks := newREST(t)
	var warnings recorder
	ctx := warning.WithWarningRecorder(inDefault(t), &warnings)
	create(ctx, t, networks, lan())
	create(ctx, t, networks, newNetwork("other", "10.0.0.0/8", "10.0.0.1"))
	elsewhere := newNetwork("lan", "192.168.0.0/16", "192.168.0.1")
	elsewhere.Namespace = "elsewhere"
	create(genericapirequest.WithNamespace(ctx, "elsewhere"), t, networks, elsewhere)
	if len(warnings) > 0 {
		t.Errorf("networks that do not overlap: %q", warnings)
	}
	awaitCache(t, networks)
	create(ctx, t, networks, newNetwork("part", "192.168.7.0/24", "192.168.7.1"))
	if diff := cmp.Diff(recorder{"spec.cidr: 192.168.7.0/24 overlaps 192.168.0.0/16 of Network lan"}, warnings); diff != "" {
		t.Errorf("warnings, -want +got:\n%s", diff)
	}
}

// BenchmarkOverlapWarnings asks for the warnings of a network in a namespace of a thousand others, one of which it
// overlaps.
func BenchmarkOverlapWarnings(b *testing.B) {
	_, networks := newREST(b)
	ctx := inDefault(b)
	for i := range 1000 {
		prefix := fmt.Sprintf("10.%d.%d", i/250, i%250)
		create(ctx, b, networks, newNetwork(fmt.Sprintf("lan-%d", i), prefix+".0/24", prefix+".1"))
	}
	network := newNetwork("lan", "10.0.7.0/25", "10.0.7.1")
	awaitCache(b, networks)
	b.ReportAllocs()
	for b.Loop() {
		if got := networks.CreateStrategy.WarningsOnCreate(ctx, network); len(got) != 1 {
			b.Fatalf("warnings: %q", got)
		}
	}
}
