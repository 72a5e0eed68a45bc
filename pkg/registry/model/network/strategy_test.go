// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

func TestPrepareForCreateStartsTheGenerationAndTheStatus(t *testing.T) {
	network := lan(func(network *model.Network) { network.Status.Boxes = []string{"web"} })
	newStrategy().PrepareForCreate(t.Context(), network)
	want := lan(func(network *model.Network) {
		network.Generation = 1
		network.Status.Conditions = []metav1.Condition{{
			Type: "Ready", Status: metav1.ConditionUnknown, Reason: "Pending", Message: "the controller has not seen this network yet",
		}}
	})
	if diff := cmp.Diff(want, network, cmpopts.IgnoreFields(metav1.Condition{}, "LastTransitionTime")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestSpecAndStatusAreWrittenApart(t *testing.T) {
	old := lan(func(network *model.Network) { network.Status.Boxes = []string{"web"} })
	both := func() *model.Network {
		return lan(func(network *model.Network) {
			network.Labels = map[string]string{"team": "shop"}
			network.Spec.Gateway = "192.168.0.2"
			network.Status.Boxes = []string{"db"}
		})
	}
	network := both()
	newStrategy().PrepareForUpdate(t.Context(), network, old)
	if diff := cmp.Diff(old.Status, network.Status); diff != "" {
		t.Errorf("the status of an update of the main resource, -want +got:\n%s", diff)
	}
	network = both()
	NewStatusStrategy(newStrategy()).PrepareForUpdate(t.Context(), network, old)
	if diff := cmp.Diff(lan(func(network *model.Network) { network.Status.Boxes = []string{"db"} }), network); diff != "" {
		t.Errorf("an update of the status, -want +got:\n%s", diff)
	}
}

func TestStatusUpdatesAreValidated(t *testing.T) {
	strategy := NewStatusStrategy(newStrategy())
	network := lan(func(network *model.Network) { network.Status.UsedAddresses = -1 })
	if got := strategy.ValidateUpdate(t.Context(), network, lan()); len(got) != 1 || got[0].Field != "status.usedAddresses" {
		t.Errorf("got %v", got)
	}
}

func TestPrepareForUpdateCountsChangesOfTheSpec(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*model.Network)
		want   int64
	}{
		{"nothing", func(*model.Network) {}, 3},
		{"a label", func(network *model.Network) { network.Labels = map[string]string{"team": "shop"} }, 3},
		{"the gateway", withGateway("192.168.0.2"), 4},
	} {
		t.Run(row.name, func(t *testing.T) {
			network := lan(row.change)
			newStrategy().PrepareForUpdate(t.Context(), network, lan())
			if network.Generation != row.want {
				t.Errorf("generation %d, want %d", network.Generation, row.want)
			}
		})
	}
}

// The generic store asks the strategy in these two ways.
func TestCreateAndUpdateAreValidated(t *testing.T) {
	ctx := genericapirequest.WithNamespace(t.Context(), "default")
	create := func(changes ...func(*model.Network)) error {
		network := lan(changes...)
		network.ResourceVersion, network.UID = "", ""
		rest.FillObjectMetaSystemFields(network)
		return rest.BeforeCreate(newStrategy(), ctx, network)
	}
	update := func(changes ...func(*model.Network)) error {
		return rest.BeforeUpdate(newStrategy(), ctx, lan(changes...), lan())
	}
	withCIDR := func(cidr string) func(*model.Network) {
		return func(network *model.Network) { network.Spec.CIDR = cidr }
	}
	const prefix = `Network.model.github.com "lan" is invalid: `
	for _, row := range []struct {
		name string
		err  error
		want string
	}{
		{"a valid network", create(), ""},
		{"a network with host bits", create(withCIDR("192.168.0.5/16")),
			prefix + `spec.cidr: Invalid value: "192.168.0.5/16": must not have bits set beyond the prefix length, should be "192.168.0.0/16"`},
		{"another gateway", update(withGateway("192.168.0.2")), ""},
		{"another cidr", update(withCIDR("192.0.0.0/8")), prefix + `spec.cidr: Invalid value: "192.0.0.0/8": field is immutable`},
	} {
		got := ""
		if row.err != nil {
			got = row.err.Error()
		}
		if got != row.want {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
}
