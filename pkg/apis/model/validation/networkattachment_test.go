// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

func TestValidateNetworkAttachment(t *testing.T) {
	ipv4 := func(change func(*model.NetworkSpec)) *model.Network {
		network := newNetwork("10.1.0.0/16", "10.1.0.1")
		network.Spec.Type = model.NetworkTypeBridge
		change(&network.Spec)
		return network
	}
	of := func(networkType model.NetworkType, master string, vlan int32) *model.Network {
		return ipv4(func(spec *model.NetworkSpec) { spec.Type, spec.Master, spec.VLAN = networkType, master, vlan })
	}
	mtu := func(mtu int32) *model.Network { return ipv4(func(spec *model.NetworkSpec) { spec.MTU = mtu }) }
	ipv6 := func(mtu int32, routes ...string) *model.Network {
		network := newNetwork("2001:db8::/64", "2001:db8::1")
		network.Spec.Type, network.Spec.MTU, network.Spec.Routes = model.NetworkTypeBridge, mtu, routes
		return network
	}
	routes := func(routes ...string) *model.Network {
		return ipv4(func(spec *model.NetworkSpec) { spec.Routes = routes })
	}
	adopted := func(value string) *model.Network {
		network := of(model.NetworkTypeBridge, "", 0)
		network.Annotations = map[string]string{"model.github.com/adopt": value}
		return network
	}
	const badName = "must be the name of an interface: printable ASCII characters without blanks, '/' and ':'"

	for _, row := range []struct {
		name    string
		network *model.Network
		want    []string
	}{
		{"a bridge", of(model.NetworkTypeBridge, "", 0), nil},
		{"a bridge with a VLAN", of(model.NetworkTypeBridge, "", 4094), nil},
		{"a bridge with a master", of(model.NetworkTypeBridge, "eth1", 0), []string{`spec.master: Forbidden: type "bridge" has none`}},
		{"a macvlan of the default interface", of(model.NetworkTypeMACVLAN, "", 0), nil},
		{"a macvlan of another interface", of(model.NetworkTypeMACVLAN, "eth1.100", 0), nil},
		{"a macvlan with a VLAN", of(model.NetworkTypeMACVLAN, "eth1", 100), []string{`spec.vlan: Forbidden: type "macvlan" has none: name an interface of the VLAN in master`}},
		{"an ipvlan of the default interface", of(model.NetworkTypeIPVLAN, "", 0), nil},
		{"an ipvlan with a VLAN", of(model.NetworkTypeIPVLAN, "", 1), []string{`spec.vlan: Forbidden: type "ipvlan" has none: name an interface of the VLAN in master`}},
		{"a VLAN", of(model.NetworkTypeVLAN, "eth1", 1), nil},
		{"a VLAN of no interface and no number", of(model.NetworkTypeVLAN, "", 0), []string{
			`spec.master: Required value: type "vlan" is a part of an interface of the nodes`,
			`spec.vlan: Required value: type "vlan" is one of the VLANs of an interface`,
		}},
		{"a negative VLAN", of(model.NetworkTypeVLAN, "eth1", -1), []string{"spec.vlan: Invalid value: -1: must be greater than or equal to 1"}},
		{"a VLAN beyond the last", of(model.NetworkTypeVLAN, "eth1", 4095), []string{"spec.vlan: Invalid value: 4095: must be less than or equal to 4094"}},
		{"another type", of("ptp", "", 0), []string{`spec.type: Unsupported value: "ptp": supported values: "bridge", "ipvlan", "macvlan", "vlan"`}},
		{"no type", of("", "", 0), []string{"spec.type: Required value"}},

		{"the longest name of an interface", of(model.NetworkTypeMACVLAN, strings.Repeat("x", 15), 0), nil},
		{"a longer name of an interface", of(model.NetworkTypeMACVLAN, strings.Repeat("x", 16), 0), []string{"spec.master: Too long: may not be more than 15 bytes"}},
		{"a path", of(model.NetworkTypeMACVLAN, "eth/1", 0), []string{`spec.master: Invalid value: "eth/1": ` + badName}},
		{"an alias", of(model.NetworkTypeMACVLAN, "eth1:0", 0), []string{`spec.master: Invalid value: "eth1:0": ` + badName}},
		{"a blank", of(model.NetworkTypeMACVLAN, "eth 1", 0), []string{`spec.master: Invalid value: "eth 1": ` + badName}},
		{"another alphabet", of(model.NetworkTypeMACVLAN, "ëth1", 0), []string{`spec.master: Invalid value: "ëth1": ` + badName}},
		{"a folder", of(model.NetworkTypeMACVLAN, "..", 0), []string{`spec.master: Invalid value: "..": must not be '.' or '..'`}},

		{"the smallest MTU", mtu(68), nil},
		{"the largest MTU", mtu(65535), nil},
		{"a smaller MTU", mtu(67), []string{"spec.mtu: Invalid value: 67: must be greater than or equal to 68"}},
		{"a larger MTU", mtu(65536), []string{"spec.mtu: Invalid value: 65536: must be less than or equal to 65535"}},
		{"a negative MTU", mtu(-1), []string{"spec.mtu: Invalid value: -1: must be greater than or equal to 68"}},
		{"the smallest MTU of IPv6", ipv6(1280), nil},
		{"a smaller MTU of IPv6", ipv6(1279), []string{"spec.mtu: Invalid value: 1279: must be at least 1280 for IPv6"}},

		{"routes", routes("10.2.0.0/16", "192.168.1.1/32"), nil},
		{"a route of IPv6", ipv6(0, "2001:db8:1::/48"), nil},
		{"a route with host bits", routes("10.2.0.1/16"), []string{`spec.routes[0]: Invalid value: "10.2.0.1/16": must not have bits set beyond the prefix length, should be "10.2.0.0/16"`}},
		{"an address", routes("10.2.0.1"), []string{`spec.routes[0]: Invalid value: "10.2.0.1": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)`}},
		{"a route to everywhere", routes("0.0.0.0/0"), []string{`spec.routes[0]: Invalid value: "0.0.0.0/0": must not be all addresses: the default route of a pod is that of the cluster's network`}},
		{"a route of the other IP family", routes("2001:db8::/64"), []string{`spec.routes[0]: Invalid value: "2001:db8::/64": must be of the same IP family as the cidr (10.1.0.0/16)`}},
		{"a route into the network", routes("10.2.0.0/16", "10.1.2.0/24"), []string{`spec.routes[1]: Invalid value: "10.1.2.0/24": must be outside the cidr (10.1.0.0/16)`}},
		{"a route around the network", routes("10.0.0.0/8"), []string{`spec.routes[0]: Invalid value: "10.0.0.0/8": must be outside the cidr (10.1.0.0/16)`}},
		{"a route twice", routes("10.2.0.0/16", "10.2.0.0/16"), []string{`spec.routes[1]: Duplicate value: "10.2.0.0/16"`}},

		{"an adopting network", adopted("true"), nil},
		{"a network that may adopt or not", adopted("yes"), []string{`metadata.annotations[model.github.com/adopt]: Unsupported value: "yes": supported values: "true", "false"`}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, messages(TruncateErrors(ValidateNetwork(t.Context(), row.network)))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestValidateNetworkAttachmentUpdate(t *testing.T) {
	network := func(change func(*model.NetworkSpec)) *model.Network {
		network := newNetwork("10.1.0.0/16", "10.1.0.1")
		network.Spec.Type = model.NetworkTypeBridge
		change(&network.Spec)
		return network
	}
	for _, row := range []struct {
		name        string
		old, change func(*model.NetworkSpec)
		want        []string
	}{
		{"another MTU, VLAN and routes", func(*model.NetworkSpec) {}, func(spec *model.NetworkSpec) { spec.MTU, spec.VLAN, spec.Routes = 1400, 7, []string{"10.2.0.0/16"} }, nil},
		{"another type", func(*model.NetworkSpec) {}, func(spec *model.NetworkSpec) { spec.Type = model.NetworkTypeMACVLAN },
			[]string{`spec.type: Invalid value: "macvlan": field is immutable`}},
		{"what was wrong already", func(spec *model.NetworkSpec) { spec.Master = "eth1" }, func(spec *model.NetworkSpec) { spec.Gateway = "10.1.0.2" }, nil},
		{"something else that is wrong", func(*model.NetworkSpec) {}, func(spec *model.NetworkSpec) { spec.Master = "eth1" },
			[]string{`spec.master: Forbidden: type "bridge" has none`}},
	} {
		t.Run(row.name, func(t *testing.T) {
			old := network(row.old)
			changed := old.DeepCopy()
			row.change(&changed.Spec)
			if diff := cmp.Diff(row.want, messages(TruncateErrors(ValidateNetworkUpdate(t.Context(), changed, old)))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
