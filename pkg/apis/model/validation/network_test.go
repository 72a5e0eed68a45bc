// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/install"
)

func newNetwork(cidr, gateway string) *model.Network {
	return &model.Network{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "lan", ResourceVersion: "1"},
		Spec:       model.NetworkSpec{CIDR: cidr, Gateway: gateway, Type: model.NetworkTypeBridge},
	}
}

func messages(errs field.ErrorList) []string {
	var messages []string
	for _, err := range errs {
		messages = append(messages, err.Error())
	}
	return messages
}

func TestValidateNetwork(t *testing.T) {
	const (
		isRequired = "Required value"
		noCIDR     = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
		noIP       = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
	)
	cidr := func(value, detail string) string { return `spec.cidr: Invalid value: "` + value + `": ` + detail }
	gateway := func(value, detail string) string { return `spec.gateway: Invalid value: "` + value + `": ` + detail }

	for _, row := range []struct {
		name, cidr, gateway string
		want                []string
	}{
		{"IPv4", "192.168.0.0/16", "192.168.0.1", nil},
		{"IPv6", "2001:db8::/64", "2001:db8::1", nil},
		{"the last IPv4 address but one", "192.168.0.0/16", "192.168.255.254", nil},
		{"the last IPv6 address: there is no broadcast", "2001:db8::/64", "2001:db8::ffff:ffff:ffff:ffff", nil},
		{"the longest canonical values", "1111:2222:3333:4444:5555:6666:7777:8888/127", "1111:2222:3333:4444:5555:6666:7777:8889", nil},
		{"half of all IPv4 addresses", "0.0.0.0/1", "10.0.0.1", nil},
		{"half of all IPv6 addresses", "::/1", "2001:db8::1", nil},
		{"the highest IPv4 addresses", "255.255.255.0/24", "255.255.255.254", nil},
		{"a /30", "10.0.0.0/30", "10.0.0.2", nil},
		{"a /31, whose last address is no broadcast", "10.0.0.0/31", "10.0.0.1", nil},
		{"a /127", "2001:db8::/127", "2001:db8::1", nil},
		{"an IPv6 link", "fe80::/64", "fe80::1", nil},

		{"nothing", "", "", []string{"spec.cidr: " + isRequired, "spec.gateway: " + isRequired}},
		{"no cidr", "", "10.0.0.1", []string{"spec.cidr: " + isRequired}},
		{"no gateway", "10.0.0.0/8", "", []string{"spec.gateway: " + isRequired}},
		{"no cidr and a bad gateway", "", "x", []string{"spec.cidr: " + isRequired, gateway("x", noIP)}},
		{"both bad", "x", "y", []string{cidr("x", noCIDR), gateway("y", noIP)}},

		{"an address in place of a cidr", "192.168.0.0", "192.168.0.1", []string{cidr("192.168.0.0", noCIDR)}},
		{"a mask in place of a prefix length", "192.168.0.0/255.255.0.0", "192.168.0.1", []string{cidr("192.168.0.0/255.255.0.0", noCIDR)}},
		{"a prefix that is too long for IPv4", "192.168.0.0/33", "192.168.0.1", []string{cidr("192.168.0.0/33", noCIDR)}},
		{"a prefix that is too long for IPv6", "2001:db8::/129", "2001:db8::1", []string{cidr("2001:db8::/129", noCIDR)}},
		{"space around the cidr", " 192.168.0.0/16", "192.168.0.1", []string{cidr(" 192.168.0.0/16", noCIDR)}},
		{"a cidr with a zone", "fe80::%eth0/64", "fe80::1", []string{cidr("fe80::%eth0/64", noCIDR)}},
		{"host bits in the cidr", "192.168.0.5/16", "192.168.0.1",
			[]string{cidr("192.168.0.5/16", `must not have bits set beyond the prefix length, should be "192.168.0.0/16"`)}},
		{"host bits in an IPv6 cidr", "2001:db8::5/64", "2001:db8::1",
			[]string{cidr("2001:db8::5/64", `must not have bits set beyond the prefix length, should be "2001:db8::/64"`)}},
		{"leading zeros in the cidr", "192.168.000.0/16", "192.168.0.1",
			[]string{cidr("192.168.000.0/16", `must not have leading 0s in IP or prefix length, should be "192.168.0.0/16"`)}},
		{"a leading zero in the prefix length", "192.168.0.0/016", "192.168.0.1",
			[]string{cidr("192.168.0.0/016", `must not have leading 0s in IP or prefix length, should be "192.168.0.0/16"`)}},
		{"an IPv6 cidr in upper case", "2001:DB8::/64", "2001:db8::1", []string{cidr("2001:DB8::/64", `must be in canonical form ("2001:db8::/64")`)}},
		{"an IPv6 cidr that is longer than need be", "2001:db8:0:0::/64", "2001:db8::1", []string{cidr("2001:db8:0:0::/64", `must be in canonical form ("2001:db8::/64")`)}},
		{"an IPv4-mapped cidr", "::ffff:192.168.0.0/112", "192.168.0.1",
			[]string{cidr("::ffff:192.168.0.0/112", `must not have an IPv4-mapped IPv6 address, should be "192.168.0.0/16"`)}},
		{"all IPv4 addresses", "0.0.0.0/0", "10.0.0.1",
			[]string{cidr("0.0.0.0/0", mustNotContainAllAddresses)}},
		{"all IPv6 addresses", "::/0", "2001:db8::1",
			[]string{cidr("::/0", mustNotContainAllAddresses)}},
		{"a single IPv4 address", "10.0.0.1/32", "10.0.0.1",
			[]string{cidr("10.0.0.1/32", mustHaveAddressForGateway(31))}},
		{"a single IPv6 address", "2001:db8::1/128", "2001:db8::1",
			[]string{cidr("2001:db8::1/128", mustHaveAddressForGateway(127))}},

		{"a name in place of a gateway", "192.168.0.0/16", "router.example.com", []string{gateway("router.example.com", noIP)}},
		{"a gateway with a prefix length", "192.168.0.0/16", "192.168.0.1/16", []string{gateway("192.168.0.1/16", noIP)}},
		{"a gateway with a zone", "fe80::/64", "fe80::1%eth0", []string{gateway("fe80::1%eth0", noIP)}},
		{"leading zeros in the gateway", "192.168.0.0/16", "192.168.000.001",
			[]string{gateway("192.168.000.001", `must not have leading 0s, should be "192.168.0.1"`)}},
		{"a gateway in upper case", "2001:db8::/64", "2001:DB8::1", []string{gateway("2001:DB8::1", `must be in canonical form ("2001:db8::1")`)}},
		{"an IPv4-mapped gateway", "192.168.0.0/16", "::ffff:192.168.0.1",
			[]string{gateway("::ffff:192.168.0.1", `must not be an IPv4-mapped IPv6 address, should be "192.168.0.1"`)}},
		{"an IPv6 gateway of an IPv4 network", "192.168.0.0/16", "2001:db8::1",
			[]string{gateway("2001:db8::1", MustHaveFamilyOfCIDR("192.168.0.0/16"))}},
		{"an IPv4 gateway of an IPv6 network", "2001:db8::/64", "192.168.0.1",
			[]string{gateway("192.168.0.1", MustHaveFamilyOfCIDR("2001:db8::/64"))}},
		{"a gateway outside", "192.168.0.0/16", "192.169.0.1", []string{gateway("192.169.0.1", MustBeInsideCIDR("192.168.0.0/16"))}},
		{"the network address", "192.168.0.0/16", "192.168.0.0", []string{gateway("192.168.0.0", MustNotBeFirstAddress("192.168.0.0/16"))}},
		{"the subnet-router anycast address", "2001:db8::/64", "2001:db8::", []string{gateway("2001:db8::", MustNotBeFirstAddress("2001:db8::/64"))}},
		{"the first address of a /31", "10.0.0.0/31", "10.0.0.0", []string{gateway("10.0.0.0", MustNotBeFirstAddress("10.0.0.0/31"))}},
		{"the first address of a /127", "2001:db8::/127", "2001:db8::", []string{gateway("2001:db8::", MustNotBeFirstAddress("2001:db8::/127"))}},
		{"the broadcast address", "192.168.0.0/16", "192.168.255.255", []string{gateway("192.168.255.255", MustNotBeBroadcast("192.168.0.0/16"))}},
		{"the broadcast address of a /30", "10.0.0.0/30", "10.0.0.3", []string{gateway("10.0.0.3", MustNotBeBroadcast("10.0.0.0/30"))}},
		{"the last of all IPv4 addresses", "255.255.255.0/24", "255.255.255.255",
			[]string{gateway("255.255.255.255", MustNotBeBroadcast("255.255.255.0/24"))}},
		{"a loopback address", "127.0.0.0/8", "127.0.0.1", []string{gateway("127.0.0.1", mustBeUnicast)}},
		{"a multicast address", "ff02::/16", "ff02::1", []string{gateway("ff02::1", mustBeUnicast)}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, messages(ValidateNetwork(t.Context(), newNetwork(row.cidr, row.gateway)))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// FuzzNetwork checks that whatever is accepted is canonical, and has a gateway that is inside and not the first address.
func FuzzNetwork(f *testing.F) {
	f.Add("192.168.0.0/16", "192.168.0.1")
	f.Add("192.168.000.5/016", "192.168.0.01")
	f.Add("2001:DB8::/64", "fe80::1%eth0")
	f.Add("::ffff:192.168.0.0/90", "::ffff:192.168.0.1")
	f.Fuzz(func(t *testing.T, cidr, gateway string) {
		if len(ValidateNetwork(t.Context(), newNetwork(cidr, gateway))) > 0 {
			return
		}
		prefix, address := netip.MustParsePrefix(cidr), netip.MustParseAddr(gateway)
		if prefix.Masked().String() != cidr || address.String() != gateway || address.Zone() != "" {
			t.Errorf("%q and %q are not canonical", cidr, gateway)
		}
		if !prefix.Contains(address) || address == prefix.Addr() {
			t.Errorf("%s has the gateway %s", cidr, gateway)
		}
	})
}

func TestValidateNetworkMetadata(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*model.Network)
		want   []string
	}{
		{"a name of 63 characters", func(n *model.Network) { n.Name = strings.Repeat("a", 63) }, nil},
		{"a name of digits", func(n *model.Network) { n.Name = "10" }, nil},
		{"no name", func(n *model.Network) { n.Name = "" }, []string{"metadata.name: Required value: name or generateName is required"}},
		{"a name with dots", func(n *model.Network) { n.Name = "lan.one" }, []string{"metadata.name: Invalid value"}},
		{"a name of 64 characters", func(n *model.Network) { n.Name = strings.Repeat("a", 64) }, []string{"metadata.name: Invalid value"}},
		{"no namespace", func(n *model.Network) { n.Namespace = "" }, []string{"metadata.namespace: Required value"}},
		{"a finalizer with a domain", func(n *model.Network) { n.Finalizers = []string{"example.com/hold"} }, nil},
		{"a finalizer without", func(n *model.Network) { n.Finalizers = []string{"hold"} }, []string{"metadata.finalizers[0]: Invalid value"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			network := newNetwork("192.168.0.0/16", "192.168.0.1")
			row.change(network)
			got := messages(ValidateNetwork(t.Context(), network))
			if len(got) != len(row.want) {
				t.Fatalf("got %q, want %q", got, row.want)
			}
			for i, want := range row.want {
				if !strings.HasPrefix(got[i], want) {
					t.Errorf("got %q, want %q", got[i], want)
				}
			}
		})
	}
}

func TestValidateNetworkUpdate(t *testing.T) {
	const isImmutable = `spec.cidr: Invalid value: "10.0.0.0/8": field is immutable`
	old := newNetwork("192.168.0.0/16", "192.168.0.1")
	// refusedToday is what no network may be, but for one that is so already.
	refusedToday := newNetwork("192.168.0.5/16", "192.168.0.0")

	for _, row := range []struct {
		name         string
		old, network *model.Network
		want         []string
	}{
		{"nothing", old, newNetwork("192.168.0.0/16", "192.168.0.1"), nil},
		{"the gateway", old, newNetwork("192.168.0.0/16", "192.168.0.2"), nil},
		{"the gateway to one outside", old, newNetwork("192.168.0.0/16", "10.0.0.1"),
			[]string{`spec.gateway: Invalid value: "10.0.0.1": ` + MustBeInsideCIDR("192.168.0.0/16")}},
		{"the gateway to none", old, newNetwork("192.168.0.0/16", ""), []string{"spec.gateway: Required value"}},
		{"the cidr", old, newNetwork("10.0.0.0/8", "192.168.0.1"), []string{isImmutable}},
		{"both", old, newNetwork("10.0.0.0/8", "10.0.0.1"), []string{isImmutable}},
		{"both, to ones that do not fit", old, newNetwork("10.0.0.0/8", "11.0.0.1"),
			[]string{isImmutable, `spec.gateway: Invalid value: "11.0.0.1": ` + MustBeInsideCIDR("10.0.0.0/8")}},
		{"the cidr to none", old, newNetwork("", "192.168.0.1"),
			[]string{"spec.cidr: Required value", `spec.cidr: Invalid value: "": field is immutable`}},
		{"nothing of what would be refused today", refusedToday, newNetwork("192.168.0.5/16", "192.168.0.0"), nil},
		{"the gateway where the cidr would be refused today", refusedToday, newNetwork("192.168.0.5/16", "192.168.0.1"), nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, messages(ValidateNetworkUpdate(t.Context(), row.network, row.old))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestSampleNetworkIsValid(t *testing.T) {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	data, err := os.ReadFile("../../../../artifacts/samples/network.yaml")
	if err != nil {
		t.Fatal(err)
	}
	object, err := runtime.Decode(serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDecoder(model.SchemeGroupVersion), data)
	if err != nil {
		t.Fatal(err)
	}
	network := object.(*model.Network)
	network.Namespace = metav1.NamespaceDefault
	if errs := ValidateNetwork(t.Context(), network); len(errs) > 0 {
		t.Error(errs.ToAggregate())
	}
}

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
	for _, row := range []struct {
		name    string
		network *model.Network
		want    []string
	}{
		{"a bridge", of(model.NetworkTypeBridge, "", 0), nil},
		{"a bridge with a VLAN", of(model.NetworkTypeBridge, "", 4094), nil},
		{"a bridge with a master", of(model.NetworkTypeBridge, "eth1", 0), []string{"spec.master: Forbidden: " + mustNotUseWithType(model.NetworkTypeBridge)}},
		{"a macvlan of the default interface", of(model.NetworkTypeMACVLAN, "", 0), nil},
		{"a macvlan of another interface", of(model.NetworkTypeMACVLAN, "eth1.100", 0), nil},
		{"a macvlan with a VLAN", of(model.NetworkTypeMACVLAN, "eth1", 100), []string{"spec.vlan: Forbidden: " + mustUseMasterForVLAN(model.NetworkTypeMACVLAN)}},
		{"an ipvlan of the default interface", of(model.NetworkTypeIPVLAN, "", 0), nil},
		{"an ipvlan with a VLAN", of(model.NetworkTypeIPVLAN, "", 1), []string{"spec.vlan: Forbidden: " + mustUseMasterForVLAN(model.NetworkTypeIPVLAN)}},
		{"a VLAN", of(model.NetworkTypeVLAN, "eth1", 1), nil},
		{"a VLAN of no interface and no number", of(model.NetworkTypeVLAN, "", 0), []string{
			"spec.master: Required value: " + mustUseWithType(model.NetworkTypeVLAN),
			"spec.vlan: Required value: " + mustUseWithType(model.NetworkTypeVLAN),
		}},
		{"a negative VLAN", of(model.NetworkTypeVLAN, "eth1", -1), []string{"spec.vlan: Invalid value: -1: must be greater than or equal to 1"}},
		{"a VLAN beyond the last", of(model.NetworkTypeVLAN, "eth1", 4095), []string{"spec.vlan: Invalid value: 4095: must be less than or equal to 4094"}},
		{"another type", of("ptp", "", 0), []string{`spec.type: Unsupported value: "ptp": supported values: "bridge", "ipvlan", "macvlan", "vlan"`}},
		{"no type", of("", "", 0), []string{"spec.type: Required value"}},

		{"the longest name of an interface", of(model.NetworkTypeMACVLAN, strings.Repeat("x", 15), 0), nil},
		{"a longer name of an interface", of(model.NetworkTypeMACVLAN, strings.Repeat("x", 16), 0), []string{"spec.master: Too long: may not be more than 15 bytes"}},
		{"a path", of(model.NetworkTypeMACVLAN, "eth/1", 0), []string{`spec.master: Invalid value: "eth/1": ` + mustBeInterfaceName}},
		{"an alias", of(model.NetworkTypeMACVLAN, "eth1:0", 0), []string{`spec.master: Invalid value: "eth1:0": ` + mustBeInterfaceName}},
		{"a blank", of(model.NetworkTypeMACVLAN, "eth 1", 0), []string{`spec.master: Invalid value: "eth 1": ` + mustBeInterfaceName}},
		{"another alphabet", of(model.NetworkTypeMACVLAN, "ëth1", 0), []string{`spec.master: Invalid value: "ëth1": ` + mustBeInterfaceName}},
		{"a folder", of(model.NetworkTypeMACVLAN, "..", 0), []string{`spec.master: Invalid value: "..": ` + mustNotBeDots}},

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
		{"a route to everywhere", routes("0.0.0.0/0"), []string{`spec.routes[0]: Invalid value: "0.0.0.0/0": ` + mustNotBeDefaultRoute}},
		{"a route of the other IP family", routes("2001:db8::/64"), []string{`spec.routes[0]: Invalid value: "2001:db8::/64": ` + MustHaveFamilyOfCIDR("10.1.0.0/16")}},
		{"a route into the network", routes("10.2.0.0/16", "10.1.2.0/24"), []string{`spec.routes[1]: Invalid value: "10.1.2.0/24": ` + mustBeOutsideCIDR("10.1.0.0/16")}},
		{"a route around the network", routes("10.0.0.0/8"), []string{`spec.routes[0]: Invalid value: "10.0.0.0/8": ` + mustBeOutsideCIDR("10.1.0.0/16")}},
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
			[]string{"spec.master: Forbidden: " + mustNotUseWithType(model.NetworkTypeBridge)}},
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

func TestNetworks(t *testing.T) {
	networks := func(names ...string) func(*model.ModelBox) {
		return func(box *model.ModelBox) { box.Spec.Networks = names }
	}
	const annotation = "k8s.v1.cni.cncf.io/networks"
	annotated := func(box *model.ModelBox) { box.Spec.Annotations = map[string]string{annotation: "lan"} }
	overlay := func(change func(*corev1.PodTemplateSpec)) func(*model.ModelBox) {
		return func(box *model.ModelBox) {
			box.Spec.PodTemplate = &corev1.PodTemplateSpec{}
			change(box.Spec.PodTemplate)
		}
	}
	overlayAnnotated := overlay(func(template *corev1.PodTemplateSpec) { template.Annotations = map[string]string{annotation: "lan"} })
	onHost := overlay(func(template *corev1.PodTemplateSpec) { template.Spec.HostNetwork = true })
	var many []string
	for i := range 16 {
		many = append(many, fmt.Sprintf("lan-%d", i))
	}
	check(t, []row{
		{"none is accepted", networks(), nil},
		{"several are accepted", networks("lan", "storage"), nil},
		{"sixteen are accepted", networks(many...), nil},
		{"a name is the name of a network", networks("lan", "Lan"), []string{"Invalid value: spec.networks[1]"}},
		{"a name is not empty", networks(""), []string{"Invalid value: spec.networks[0]"}},
		{"a name of another namespace is refused", networks("other/lan"), []string{"Invalid value: spec.networks[0]"}},
		{"a name with an interface is refused", networks("lan@net1"), []string{"Invalid value: spec.networks[0]"}},
		{"several names in one are refused", networks("lan,storage"), []string{"Invalid value: spec.networks[0]"}},
		{"a name twice is refused", networks("lan", "lan"), []string{"Duplicate value: spec.networks[1]"}},
		{"the annotation alone is accepted", annotated, nil},
		{"the annotation of the overlay alone is accepted", overlayAnnotated, nil},
		{"the annotation beside it is refused", all(networks("lan"), annotated), []string{"Forbidden: spec.annotations[" + annotation + "]"}},
		{"the annotation of the overlay beside it is refused", all(networks("lan"), overlayAnnotated), []string{"Forbidden: spec.podTemplate.metadata.annotations[" + annotation + "]"}},
		{"pods without interfaces of their own are refused", all(networks("lan"), onHost), []string{"Forbidden: spec.networks"}},
	})
}
