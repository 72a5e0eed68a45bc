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

// ErrNoAddresses says that a range has no address for a pod.
var ErrNoAddresses = errors.New("has no address for a pod beside the gateway")

// Capacity returns how many addresses of the network pods can have: all but the first, that of the gateway and the
// broadcast address, math.MaxInt32 where there are more than that. The spec has to be valid. A range of fewer addresses than
// the plugin host-local takes is ErrNoAddresses.
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
