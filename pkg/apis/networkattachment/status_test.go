// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package networkattachment

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/types"
)

// published is the example of section 5.4 of the standard.
const published = `[
  {"name": "cluster-wide-default", "interface": "eth5", "ips": ["1.2.3.1/24", "2001:abba::2230/64"], "mac": "02:11:22:33:44:54", "default": true},
  {"name": "some-network", "interface": "eth1", "ips": ["1.2.3.4/24", "2001:abba::2234/64"], "mac": "02:11:22:33:44:55",
   "dns": {"nameservers": ["4.2.2.1", "2001:4860:4860::8888"], "search": ["eng.foobar.com", "foobar.com"]}, "default": false},
  {"name": "other-ns/an-ip-over-infiniband-network", "interface": "ib0", "ips": ["5.4.3.2/16"],
   "mac": "80:00:11:22:33:44:55:66:77:88:99:aa:bb:cc:dd:ee:ff:00:11:22", "default": false}
]`

func TestPublishedStatusIsRead(t *testing.T) {
	attachments, err := ParseStatus(published)
	if err != nil {
		t.Fatal(err)
	}
	type read struct {
		Definition types.NamespacedName
		Interface  string
		Addresses  []netip.Addr
		IsDefault  bool
	}
	var got []read
	for i := range attachments {
		a := &attachments[i]
		got = append(got, read{a.Definition("my-namespace"), a.Interface, a.Addresses(), a.Default})
	}
	address := netip.MustParseAddr
	want := []read{
		{types.NamespacedName{Namespace: "my-namespace", Name: "cluster-wide-default"}, "eth5", []netip.Addr{address("1.2.3.1"), address("2001:abba::2230")}, true},
		{types.NamespacedName{Namespace: "my-namespace", Name: "some-network"}, "eth1", []netip.Addr{address("1.2.3.4"), address("2001:abba::2234")}, false},
		{types.NamespacedName{Namespace: "other-ns", Name: "an-ip-over-infiniband-network"}, "ib0", []netip.Addr{address("5.4.3.2")}, false},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(netip.Addr{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// The example of section 4.1.1 of the standard.
func TestSelectionHasThePublishedFormat(t *testing.T) {
	if got, want := Selection([]string{"net-a", "net-b", "other-ns/net-c"}), "net-a,net-b,other-ns/net-c"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTrimStatus(t *testing.T) {
	var many []string
	for i := range 100 {
		many = append(many, fmt.Sprintf(`{"name":"lan-%d"}`, i))
	}
	for _, row := range []struct{ name, value, want string }{
		{"no annotation", "", ""},
		{"what cannot be read is left out", `{"name":"lan"}`, ""},
		{"the network of the cluster alone is left out", `[{"name":"cni0","interface":"eth0","ips":["10.244.0.5"],"default":true,"dns":{}}]`, ""},
		{"of others, what is not needed is left out", `[{"name":"cni0","default":true},{"name":"default/lan","interface":"net1","ips":["10.1.0.2"],"mac":"9e:0c:d9:b2:f0:a6","dns":{},"gateway":["10.1.0.1"]}]`,
			`[{"name":"default/lan","interface":"net1","ips":["10.1.0.2"],"mac":"9e:0c:d9:b2:f0:a6"}]`},
		{"without a name there is nothing to tell", `[{"interface":"net1"}]`, ""},
		{"what is too long to be right is left out", `[{"name":"lan","interface":"` + strings.Repeat("x", 65) + `","mac":"` + strings.Repeat("x", 65) + `","ips":["` + strings.Repeat("x", 65) + `","10.1.0.2"]}]`,
			`[{"name":"lan","ips":["10.1.0.2"]}]`},
		{"a name that is too long is left out", `[{"name":"` + strings.Repeat("x", 128) + `"},{"name":"lan"}]`, `[{"name":"lan"}]`},
		{"more than are possible are left out", "[" + strings.Join(many, ",") + "]", "[" + strings.Join(many[:maxAttachments], ",") + "]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, TrimStatus(row.value)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
