// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/sandbox"
)

// All addresses are from 198.18.0.0/15, which is set aside for tests of networks
// (RFC 2544): nobody's real network has them. Each node has 198.18.N.0/24 for its
// pods, and 198.19.N.0/30 for the cable between it and the machine.
const maxNodes = 256

// network is what a node and the machine know each other by.
type network struct {
	link          string // the machine's end of the cable
	machine, node netip.Addr
	pods          netip.Prefix
}

const cableBits = 30

// reserveNetwork returns addresses that are the process's until it ends, or
// closes the lock.
func reserveNetwork(link string) (network, net.Listener, error) {
	for index := range maxNodes {
		// A name like this is free again as soon as nobody listens.
		lock, err := net.Listen("unix", fmt.Sprintf("@localcluster-network-%d", index))
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		if err != nil {
			return network{}, nil, fmt.Errorf("reserving addresses: %w", err)
		}
		n := byte(index)
		return network{
			link:    link,
			machine: netip.AddrFrom4([4]byte{198, 19, n, 1}),
			node:    netip.AddrFrom4([4]byte{198, 19, n, 2}),
			pods:    netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 18, n, 0}), 24),
		}, lock, nil
	}
	return network{}, nil, fmt.Errorf("reserving addresses: all %d are taken", maxNodes)
}

// connect lays a cable from the machine to the network namespace of a process,
// in place of one that may be there from the process before.
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
	// The node gets no way out: what it cannot reach it should be told at once.
	if _, err := plug(inside, sandbox.Interface, n.node); err != nil {
		return fmt.Errorf("connecting the node to the machine: %w", err)
	}
	link, err := plug(here, n.link, n.machine)
	if err != nil {
		return fmt.Errorf("connecting the machine to the node: %w", err)
	}
	pods := &net.IPNet{IP: n.pods.Addr().AsSlice(), Mask: net.CIDRMask(n.pods.Bits(), 32)}
	if err := here.RouteAdd(&netlink.Route{LinkIndex: link.Attrs().Index, Dst: pods, Gw: n.node.AsSlice()}); err != nil {
		return fmt.Errorf("connecting the machine to pods: %w", err)
	}
	return nil
}

// plug gives one end of the cable its address.
func plug(in *netlink.Handle, name string, address netip.Addr) (netlink.Link, error) {
	link, err := in.LinkByName(name)
	if err != nil {
		return nil, err
	}
	onCable := &net.IPNet{IP: address.AsSlice(), Mask: net.CIDRMask(cableBits, 32)}
	if err := in.AddrAdd(link, &netlink.Addr{IPNet: onCable}); err != nil {
		return nil, err
	}
	return link, in.LinkSetUp(link)
}

// disconnect removes the cable. That it is gone is no error.
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
