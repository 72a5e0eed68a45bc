// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"net/netip"
	"testing"
)

// TestNetworks checks that networks do not overlap, and that all addresses are reserved for tests of networks.
func TestNetworks(t *testing.T) {
	var given []netip.Prefix
	for number := range maxClusters {
		network := newNetwork("", number)
		cable := netip.PrefixFrom(network.machine, cablePart.bits).Masked()
		if !cable.Contains(network.node) || network.node == network.machine || network.machine == cable.Addr() {
			t.Errorf("network %d: %s and %s are no two hosts of %s", number, network.machine, network.node, cable)
		}
		for _, prefix := range []netip.Prefix{cable, network.pods, network.services} {
			if !testNetworks.Contains(prefix.Addr()) {
				t.Errorf("network %d: %s is not in %s", number, prefix, testNetworks)
			}
			if prefix != prefix.Masked() {
				t.Errorf("network %d: %s does not begin where it should", number, prefix)
			}
			for _, other := range given {
				if other.Overlaps(prefix) {
					t.Errorf("network %d: %s is in %s", number, prefix, other)
				}
			}
			given = append(given, prefix)
		}
	}
}

func TestReserveNetwork(t *testing.T) {
	first, firstLock, err := reserveNetwork("first")
	if err != nil {
		t.Fatal(err)
	}
	second, secondLock, err := reserveNetwork("second")
	if err != nil {
		t.Fatal(err)
	}
	defer secondLock.Close()
	if first.pods == second.pods {
		t.Errorf("both have %s", first.pods)
	}
	firstLock.Close()
	third, thirdLock, err := reserveNetwork("third")
	if err != nil {
		t.Fatal(err)
	}
	defer thirdLock.Close()
	if third.pods != first.pods {
		t.Errorf("%s is free again, but %s was given", first.pods, third.pods)
	}
}
