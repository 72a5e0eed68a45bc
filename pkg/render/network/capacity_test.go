// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"errors"
	"math"
	"testing"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestCapacity(t *testing.T) {
	for _, row := range []struct {
		cidr string
		want int32
	}{
		{"10.0.0.0/24", 253},
		{"10.0.0.0/16", 65533},
		{"10.0.0.0/30", 1},
		{"0.0.0.0/1", math.MaxInt32 - 2},
		{"2001:db8::/120", 254},
		{"2001:db8::/126", 2},
		{"2001:db8::/97", math.MaxInt32 - 1},
		{"2001:db8::/96", math.MaxInt32},
		{"2001:db8::/64", math.MaxInt32},
	} {
		got, err := Capacity(&modelv1.NetworkSpec{CIDR: row.cidr})
		if err != nil || got != row.want {
			t.Errorf("%s: got %d, %v, want %d", row.cidr, got, err, row.want)
		}
	}
	for _, cidr := range []string{"10.0.0.0/31", "2001:db8::/127"} {
		if got, err := Capacity(&modelv1.NetworkSpec{CIDR: cidr}); !errors.Is(err, ErrNoAddresses) {
			t.Errorf("%s: got %d, %v, want ErrNoAddresses", cidr, got, err)
		}
	}
}
