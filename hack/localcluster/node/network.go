// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/sandbox"
)

// All addresses are from 198.18.0.0/15, which is reserved for tests of networks (RFC 2544): no real network has them. Each cluster
// has a /20 of it: the first quarter for the pods, the second quarter for the link between the node and the machine, and the second
// half for services.
var (
	testNetworks = netip.MustParsePrefix("198.18.0.0/15")

	podsPart     = part{0, 22}
	cablePart    = part{1 << 10, 30}
	servicesPart = part{1 << 11, 21}
)

const (
	clusterBits = 20
	maxClusters = 1 << (clusterBits - 15)
)

// part is a part of the addresses of a cluster.
type part struct{ first, bits int }

// network has the addresses of a node and of the machine.
type network struct {
	link           string // the interface of the machine
	machine, node  netip.Addr
	pods, services netip.Prefix
}

// newNetwork returns the network with a number below maxClusters.
func newNetwork(link string, number int) network {
	cable := cablePart.of(number).Addr()
	return network{
		link:     link,
		machine:  cable.Next(),
		node:     cable.Next().Next(),
		pods:     podsPart.of(number),
		services: servicesPart.of(number),
	}
}

func (p part) of(number int) netip.Prefix {
	first := testNetworks.Addr().As4()
	address := binary.BigEndian.Uint32(first[:]) + uint32(number<<(32-clusterBits)+p.first)
	return netip.PrefixFrom(netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, address))), p.bits)
}

// reserveNetwork reserves addresses for this process until it ends or closes the lock.
func reserveNetwork(link string) (network, net.Listener, error) {
	for number := range maxClusters {
		// An abstract socket is free again as soon as no process listens on it.
		lock, err := net.Listen("unix", fmt.Sprintf("@localcluster-network-%d", number))
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		if err != nil {
			return network{}, nil, fmt.Errorf("reserving addresses: %w", err)
		}
		return newNetwork(link, number), lock, nil
	}
	return network{}, nil, fmt.Errorf("reserving addresses: all %d are taken", maxClusters)
}

// connect creates a link from the machine to the network namespace of a process. It replaces the link of a former process.
func (n network) connect(pid int) error {
	namespace, err := netns.GetFromPid(pid)
	if err != nil {
		return fmt.Errorf("opening the node's network: %w", err)
	}
	defer namespace.Close()
	inside, err := netlink.NewHandleAt(namespace)
	if err != nil {
		return fmt.Errorf("opening the node's network: %w", err)
	}
	defer inside.Close()
	here, err := netlink.NewHandle()
	if err != nil {
		return fmt.Errorf("opening the machine's network: %w", err)
	}
	defer here.Close()

	if old, err := here.LinkByName(n.link); err == nil {
		if err := here.LinkDel(old); err != nil {
			return fmt.Errorf("removing the old %s: %w", n.link, err)
		}
	}
	attributes := netlink.NewLinkAttrs()
	attributes.Name = n.link
	cable := netlink.NewVeth(attributes)
	cable.PeerName = sandbox.Interface
	cable.PeerNamespace = netlink.NsFd(namespace)
	if err := here.LinkAdd(cable); err != nil {
		return fmt.Errorf("connecting the node: %w", err)
	}
	// The node has no default route: other addresses then fail immediately.
	if _, err := plug(inside, sandbox.Interface, n.node); err != nil {
		return fmt.Errorf("connecting the node to the machine: %w", err)
	}
	link, err := plug(here, n.link, n.machine)
	if err != nil {
		return fmt.Errorf("connecting the machine to the node: %w", err)
	}
	for _, behind := range []netip.Prefix{n.pods, n.services} {
		if err := here.RouteAdd(&netlink.Route{LinkIndex: link.Attrs().Index, Dst: ipNet(behind), Gw: n.node.AsSlice()}); err != nil {
			return fmt.Errorf("connecting the machine to pods and services: %w", err)
		}
	}
	return nil
}

// plug sets the address of one end of the link.
func plug(in *netlink.Handle, name string, address netip.Addr) (netlink.Link, error) {
	link, err := in.LinkByName(name)
	if err != nil {
		return nil, err
	}
	onCable := netip.PrefixFrom(address, cablePart.bits)
	if err := in.AddrAdd(link, &netlink.Addr{IPNet: ipNet(onCable)}); err != nil {
		return nil, err
	}
	return link, in.LinkSetUp(link)
}

func ipNet(prefix netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: prefix.Addr().AsSlice(), Mask: net.CIDRMask(prefix.Bits(), 32)}
}

// disconnect removes the link. It returns no error if the link does not exist.
func (n network) disconnect() error {
	link, err := netlink.LinkByName(n.link)
	if err != nil {
		return nil
	}
	if err := netlink.LinkDel(link); err != nil {
		return fmt.Errorf("disconnecting the node: %w", err)
	}
	return nil
}
