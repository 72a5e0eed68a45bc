// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"errors"
	"fmt"
	"math"
	"net/netip"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// ErrNoAddresses is returned if a range has no addresses for pods.
var ErrNoAddresses = errors.New("has no address for a pod beside the gateway")

// Capacity returns the number of addresses for pods in the Network: all except the first address, the address of the gateway and
// the broadcast address. It returns at most math.MaxInt32. The spec must be valid. It returns ErrNoAddresses if the range is too
// small for the plugin host-local.
func Capacity(spec *modelv1.NetworkSpec) (int32, error) {
	cidr, err := netip.ParsePrefix(spec.CIDR)
	if err != nil {
		return 0, fmt.Errorf("reading the cidr: %w", err)
	}
	hostBits := cidr.Addr().BitLen() - cidr.Bits()
	switch {
	case hostBits < 2:
		return 0, fmt.Errorf("%s %w: the prefix length is to be at most %d", cidr, ErrNoAddresses, cidr.Addr().BitLen()-2)
	case hostBits >= 32:
		return math.MaxInt32, nil
	}
	reserved := int64(2)
	if cidr.Addr().Is4() {
		reserved++
	}
	return int32(min(int64(1)<<hostBits-reserved, math.MaxInt32)), nil
}
