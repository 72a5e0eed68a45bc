// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/vishvananda/netlink"
)

const (
	networkPatience = 10 * time.Second
	pollInterval    = 20 * time.Millisecond
)

// setUpNetwork sets up the loopback interface of the sandbox and the forwarding between pods.
func setUpNetwork() error {
	loopback, err := netlink.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("finding the loopback interface: %w", err)
	}
	if err := netlink.LinkSetUp(loopback); err != nil {
		return fmt.Errorf("starting the loopback interface: %w", err)
	}
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o644); err != nil {
		return fmt.Errorf("allowing pods to reach each other: %w", err)
	}
	return nil
}

// awaitAddress waits until Interface has an address, and returns it.
func awaitAddress(ctx context.Context) (net.IP, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, networkPatience, fmt.Errorf("%s is over", networkPatience))
	defer cancel()
	for {
		if address, found := addressOf(Interface); found {
			return address, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for %s: %w", Interface, context.Cause(ctx))
		case <-time.After(pollInterval):
		}
	}
}

func addressOf(name string) (address net.IP, found bool) {
	link, err := netlink.LinkByName(name)
	if err != nil || link.Attrs().Flags&net.FlagUp == 0 {
		return nil, false
	}
	addresses, err := netlink.AddrList(link, netlink.FAMILY_V4)
	if err != nil || len(addresses) == 0 {
		return nil, false
	}
	return addresses[0].IP, true
}
