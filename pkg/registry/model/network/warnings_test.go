// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
)

func TestOverlapWarnings(t *testing.T) {
	overlaps := func(cidr, name string) string {
		return fmt.Sprintf("spec.cidr: 192.168.0.0/16 overlaps %s of Network %s", cidr, name)
	}
	var many []*model.Network
	var manyWarnings []string
	for i := range 13 {
		name, cidr := fmt.Sprintf("lan-%02d", i), fmt.Sprintf("192.168.%d.0/24", i)
		many = append(many, named(name, cidr))
		if i < 10 {
			manyWarnings = append(manyWarnings, overlaps(cidr, name))
		}
	}
	for _, row := range []struct {
		name     string
		networks []*model.Network
		want     []string
	}{
		{"no other network", nil, nil},
		{"the network itself", []*model.Network{lan()}, nil},
		{"neighbours", []*model.Network{named("below", "192.167.0.0/16"), named("above", "192.169.0.0/16")}, nil},
		{"the same range", []*model.Network{named("mail", "192.168.0.0/16")}, []string{overlaps("192.168.0.0/16", "mail")}},
		{"a part of it", []*model.Network{named("mail", "192.168.7.0/24")}, []string{overlaps("192.168.7.0/24", "mail")}},
		{"a range that it is part of", []*model.Network{named("mail", "192.0.0.0/8")}, []string{overlaps("192.0.0.0/8", "mail")}},
		{"a range of the other IP family", []*model.Network{named("mail", "::/1")}, nil},
		{"two", []*model.Network{named("mail", "192.168.7.0/24"), named("other", "10.0.0.0/8"), named("shop", "192.0.0.0/8")},
			[]string{overlaps("192.168.7.0/24", "mail"), overlaps("192.0.0.0/8", "shop")}},
		{"more than are named", many, append(manyWarnings, "spec.cidr: 192.168.0.0/16 overlaps 3 more Networks")},
	} {
		t.Run(row.name, func(t *testing.T) {
			strategy := newStrategy(row.networks...)
			if diff := cmp.Diff(row.want, strategy.WarningsOnCreate(byUser(t, "jane"), lan())); diff != "" {
				t.Errorf("create, -want +got:\n%s", diff)
			}
			if diff := cmp.Diff(row.want, strategy.WarningsOnUpdate(byUser(t, "jane"), lan(withGateway("192.168.0.2")), lan())); diff != "" {
				t.Errorf("update, -want +got:\n%s", diff)
			}
		})
	}
}

func TestNoOverlapWarnings(t *testing.T) {
	taken := named("mail", "192.168.0.0/16")
	elsewhere := lan(func(network *model.Network) { network.Namespace = "other" })
	for _, row := range []struct {
		name string
		got  []string
	}{
		{"for a user who may not list networks", newStrategy(taken).WarningsOnCreate(byUser(t, "john"), lan())},
		{"for a request without a user", newStrategy(taken).WarningsOnCreate(t.Context(), lan())},
		{"about the networks of another namespace", newStrategy(taken).WarningsOnCreate(byUser(t, "jane"), elsewhere)},
		{"for an update of something else", newStrategy(taken).WarningsOnUpdate(byUser(t, "jane"),
			lan(func(network *model.Network) { network.Labels = map[string]string{"team": "shop"} }), lan())},
	} {
		if len(row.got) > 0 {
			t.Errorf("%s: %q", row.name, row.got)
		}
	}
}

// A network can be created although the others cannot be read.
func TestNoOverlapWarningsWithoutAList(t *testing.T) {
	strategy := NewStrategy(scheme, func(context.Context, string) (*model.NetworkList, error) {
		return nil, errors.New("the storage is unavailable")
	}, nil)
	if got := strategy.WarningsOnCreate(byUser(t, "jane"), lan()); len(got) > 0 {
		t.Errorf("got %q", got)
	}
}

func TestWarningsOnDeleteNameTheBoxes(t *testing.T) {
	for _, row := range []struct {
		name   string
		status model.NetworkStatus
		want   []string
	}{
		{"no box", model.NetworkStatus{}, nil},
		{"two", model.NetworkStatus{Boxes: []string{"db", "web"}}, []string{warn.NetworkInUse("lan", "db, web")}},
		{"more than are named", model.NetworkStatus{Boxes: []string{"db", "web"}, BoxesOmitted: 3},
			[]string{warn.NetworkInUse("lan", "db, web and 3 more")}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, WarningsOnDelete(lan(func(network *model.Network) { network.Status = row.status }))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
