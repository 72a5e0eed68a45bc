// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/uuid"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

const (
	// pluginDir is where Debian's package containernetworking-plugins has the reference plugins.
	pluginDir = "/usr/lib/cni"
	// addressDir is where the plugin host-local keeps the addresses that it has given out.
	addressDir = "/var/lib/cni/networks"
)

// node is a network namespace in place of a node, with a router at the other end of its interface eth1.
type node struct {
	t            *testing.T
	name, router string
	network      *modelv1.Network
	config       string
}

// newNode returns a node on which the plugins attach pods to the network as it is rendered. It ends with the test.
func newNode(t *testing.T, spec modelv1.NetworkSpec) *node {
	t.Helper()
	if testing.Short() {
		t.Skip("it makes network namespaces")
	}
	if os.Getuid() != 0 {
		t.Skip("only root can make network namespaces")
	}
	if _, err := os.Stat(filepath.Join(pluginDir, "bridge")); err != nil {
		t.Skipf("the reference plugins of CNI are not installed: %v", err)
	}
	id := strings.ReplaceAll(string(uuid.NewUUID()), "-", "")[:8]
	n := &node{t: t, name: "node-" + id, router: "router-" + id}
	n.network = &modelv1.Network{Spec: spec}
	n.network.Namespace, n.network.Name = "test-"+id, "lan"
	modelv1.SetObjectDefaults_Network(n.network)
	children, err := Children(n.network)
	if err != nil {
		t.Fatal(err)
	}
	if n.config, _, err = unstructured.NestedString(children[0].Object, "spec", "config"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(filepath.Join(addressDir, n.network.Namespace+"."+n.network.Name)) })
	n.addNamespace(n.name)
	n.addNamespace(n.router)
	n.ip("-n", n.name, "link", "add", "eth1", "type", "veth", "peer", "name", "eth1", "netns", n.router)
	n.ip("-n", n.name, "link", "set", "eth1", "up")
	n.ip("-n", n.router, "link", "set", "eth1", "up")
	return n
}

// addNamespace adds a network namespace until the end of the test.
func (n *node) addNamespace(name string) {
	n.t.Helper()
	n.ip("netns", "add", name)
	n.t.Cleanup(func() {
		if output, err := exec.Command("ip", "netns", "del", name).CombinedOutput(); err != nil {
			n.t.Errorf("deleting network namespace %s: %v\n%s", name, err, output)
		}
	})
	n.ip("-n", name, "link", "set", "lo", "up")
}

// ip runs the command of that name.
func (n *node) ip(arguments ...string) string {
	n.t.Helper()
	output, err := exec.Command("ip", arguments...).CombinedOutput()
	if err != nil {
		n.t.Fatalf("ip %s: %v\n%s", strings.Join(arguments, " "), err, output)
	}
	return string(output)
}

// result is the part of the result of a plugin that the tests read.
type result struct {
	IPs []struct {
		Address netip.Prefix `json:"address"`
		Gateway netip.Addr   `json:"gateway"`
	} `json:"ips"`
}

// run calls the plugin of the network for a pod, as a runtime does.
func (n *node) run(command, pod string) (*result, error) {
	plugin := exec.Command("ip", "netns", "exec", n.name, filepath.Join(pluginDir, string(n.network.Spec.Type)))
	plugin.Env = append(os.Environ(),
		"CNI_COMMAND="+command, "CNI_CONTAINERID="+pod, "CNI_NETNS=/var/run/netns/"+pod, "CNI_IFNAME=net1", "CNI_PATH="+pluginDir)
	plugin.Stdin = strings.NewReader(n.config)
	var stdout, stderr bytes.Buffer
	plugin.Stdout, plugin.Stderr = &stdout, &stderr
	if err := plugin.Run(); err != nil {
		return nil, fmt.Errorf("%s of %s: %w: %s%s", command, pod, err, stdout.String(), stderr.String())
	}
	if command != "ADD" {
		return nil, nil
	}
	added := &result{}
	if err := json.Unmarshal(stdout.Bytes(), added); err != nil {
		return nil, fmt.Errorf("reading the result of %s: %w", pod, err)
	}
	if len(added.IPs) != 1 {
		return nil, fmt.Errorf("%s has the addresses %v, want one", pod, added.IPs)
	}
	return added, nil
}

// attach adds a pod to the network, skipping the test where the kernel of this machine lacks what the plugin needs, and
// returns its address.
func (n *node) attach(pod string) netip.Addr {
	n.t.Helper()
	n.addNamespace(pod)
	added, err := n.run("ADD", pod)
	if err != nil {
		for _, lack := range []string{"operation not supported", "not supported", "no such device"} {
			if strings.Contains(strings.ToLower(err.Error()), lack) {
				n.t.Skipf("the kernel of this machine lacks a %s: %v", n.network.Spec.Type, err)
			}
		}
		n.t.Fatal(err)
	}
	if got := added.IPs[0].Gateway.String(); got != n.network.Spec.Gateway {
		n.t.Errorf("the gateway of %s is %s, want %s", pod, got, n.network.Spec.Gateway)
	}
	return added.IPs[0].Address.Addr()
}

// answers returns whether something has the address in the network of a pod: it refuses a connection.
func answers(pod string, address netip.Addr) error {
	var output []byte
	// IPv6 addresses are tentative for a moment.
	for range 20 {
		output, _ = exec.Command("ip", "netns", "exec", pod, "timeout", "2", "bash", "-c", fmt.Sprintf("exec 3<>/dev/tcp/%s/9", address)).CombinedOutput()
		if strings.Contains(string(output), "refused") {
			return nil
		}
		time.Sleep(250 * time.Millisecond)
	}
	return fmt.Errorf("%s does not answer %s: %s", address, pod, output)
}

func TestPluginsAttachPodsAsRendered(t *testing.T) {
	for _, row := range []struct {
		name string
		spec modelv1.NetworkSpec
		// router is what the router has to be given, beside the address of the gateway, nil where the node itself is the
		// gateway.
		router []string
	}{
		{"bridge", modelv1.NetworkSpec{CIDR: "10.101.0.0/24", Gateway: "10.101.0.1", MTU: 1400, Routes: []string{"10.102.0.0/16"}}, nil},
		{"bridge of another gateway", modelv1.NetworkSpec{CIDR: "10.101.0.0/24", Gateway: "10.101.0.77"}, nil},
		{"bridge of IPv6", modelv1.NetworkSpec{CIDR: "2001:db8:1::/64", Gateway: "2001:db8:1::1", Routes: []string{"2001:db8:2::/64"}}, nil},
		{"bridge with a VLAN", modelv1.NetworkSpec{CIDR: "10.101.0.0/24", Gateway: "10.101.0.1", VLAN: 100}, nil},
		{"macvlan", modelv1.NetworkSpec{CIDR: "10.101.0.0/24", Gateway: "10.101.0.1", Type: modelv1.NetworkTypeMACVLAN, Master: "eth1", MTU: 1400}, []string{}},
		{"ipvlan", modelv1.NetworkSpec{CIDR: "10.101.0.0/24", Gateway: "10.101.0.1", Type: modelv1.NetworkTypeIPVLAN, Master: "eth1"}, []string{}},
		{"vlan", modelv1.NetworkSpec{CIDR: "10.101.0.0/24", Gateway: "10.101.0.1", Type: modelv1.NetworkTypeVLAN, Master: "eth1", VLAN: 100},
			[]string{"link", "add", "link", "eth1", "name", "vlan100", "type", "vlan", "id", "100"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			n := newNode(t, row.spec)
			pod, other := "pod-a-"+n.name, "pod-b-"+n.name
			address := n.attach(pod)
			gateway, cidr := netip.MustParseAddr(row.spec.Gateway), netip.MustParsePrefix(row.spec.CIDR)
			if row.router != nil {
				device := "eth1"
				if len(row.router) > 0 {
					n.ip(append([]string{"-n", n.router}, row.router...)...)
					device = "vlan100"
					n.ip("-n", n.router, "link", "set", device, "up")
				}
				n.ip("-n", n.router, "address", "add", netip.PrefixFrom(gateway, cidr.Bits()).String(), "dev", device)
			}
			if !cidr.Contains(address) || address == gateway {
				t.Errorf("the address is %s", address)
			}
			link := n.ip("-n", pod, "link", "show", "net1")
			if !strings.Contains(link, "UP") || row.spec.MTU > 0 && !strings.Contains(link, fmt.Sprintf("mtu %d", row.spec.MTU)) {
				t.Errorf("the interface is %s", link)
			}
			for _, route := range row.spec.Routes {
				family := "-4"
				if cidr.Addr().Is6() {
					family = "-6"
				}
				if got := n.ip("-n", pod, family, "route", "show", route); !strings.Contains(got, "via "+row.spec.Gateway+" dev net1") {
					t.Errorf("the route to %s is %q", route, got)
				}
			}
			if err := answers(pod, gateway); err != nil {
				t.Error(err)
			}
			if err := answers(pod, n.attach(other)); err != nil {
				t.Error(err)
			}
			for _, pod := range []string{pod, other} {
				if _, err := n.run("DEL", pod); err != nil {
					t.Error(err)
				}
			}
			if row.router != nil {
				return
			}
			// Pods that start after a network gets a gateway have this gateway.
			changed := gateway.Next().Next().Next()
			n.network.Spec.Gateway = changed.String()
			children, err := Children(n.network)
			if err != nil {
				t.Fatal(err)
			}
			n.config, _, _ = unstructured.NestedString(children[0].Object, "spec", "config")
			later := "pod-c-" + n.name
			n.attach(later)
			if err := answers(later, changed); err != nil {
				t.Error(err)
			}
			if _, err := n.run("DEL", later); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestNoAddressIsGivenOutTwice(t *testing.T) {
	const pods, workers = 200, 4
	n := newNode(t, modelv1.NetworkSpec{CIDR: "10.101.0.0/24", Gateway: "10.101.0.100"})
	names := make(chan string, pods)
	for i := range pods {
		name := fmt.Sprintf("pod-%d-%s", i, n.name)
		n.addNamespace(name)
		names <- name
	}
	close(names)
	var mu sync.Mutex
	holders := map[netip.Addr]string{netip.MustParseAddr(n.network.Spec.Gateway): "the gateway"}
	var errs []error
	var running sync.WaitGroup
	begin := time.Now()
	for range workers {
		running.Go(func() {
			for pod := range names {
				added, err := n.run("ADD", pod)
				mu.Lock()
				if err != nil {
					errs = append(errs, err)
				} else if address := added.IPs[0].Address.Addr(); holders[address] != "" {
					errs = append(errs, fmt.Errorf("%s has %s, and so has %s", pod, address, holders[address]))
				} else {
					holders[address] = pod
				}
				mu.Unlock()
			}
		})
	}
	running.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d pods were attached in %s", pods, time.Since(begin).Round(time.Millisecond))
	capacity, err := Capacity(&n.network.Spec)
	if err != nil {
		t.Fatal(err)
	}
	// As many as the network has room for get an address, and no more.
	for i := pods; i <= int(capacity); i++ {
		pod := fmt.Sprintf("pod-%d-%s", i, n.name)
		n.addNamespace(pod)
		_, err := n.run("ADD", pod)
		if isFull := i == int(capacity); isFull != (err != nil) {
			t.Errorf("pod %d of %d: %v", i+1, capacity, err)
		}
	}
}
