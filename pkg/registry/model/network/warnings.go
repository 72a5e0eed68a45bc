// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"fmt"
	"net/netip"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/klog/v2"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/requester"
)

// List returns the networks of a namespace from a cache. The caller must not change them.
type List func(ctx context.Context, namespace string) (*model.NetworkList, error)

// maxNamed is the maximum number of networks that warnings name.
const maxNamed = 10

// overlapWarnings names the networks of the namespace that the network overlaps, to a user who may list them. Other users do not
// learn that such networks exist.
func (s Strategy) overlapWarnings(ctx context.Context, network *model.Network) []string {
	cidr, err := netip.ParsePrefix(network.Spec.CIDR)
	if err != nil {
		return nil
	}
	networks, err := s.list(ctx, network.Namespace)
	if err != nil {
		klog.FromContext(ctx).V(2).Info("Looking for networks that overlap failed", "err", err)
		return nil
	}
	var warnings []string
	unnamed := 0
	path := field.NewPath("spec", "cidr")
	for i := range networks.Items {
		other := &networks.Items[i]
		if other.Name == network.Name {
			continue
		}
		otherCIDR, err := netip.ParsePrefix(other.Spec.CIDR)
		switch {
		case err != nil || !cidr.Overlaps(otherCIDR):
		case len(warnings) == maxNamed:
			unnamed++
		default:
			warnings = append(warnings, fmt.Sprintf("%s: %s overlaps %s of Network %s", path, cidr, otherCIDR, other.Name))
		}
	}
	if len(warnings) == 0 || !requester.Can(ctx, s.authorizer, "list", modelv1.SchemeGroupVersion.WithResource("networks"), network.Namespace) {
		return nil
	}
	if unnamed > 0 {
		warnings = append(warnings, fmt.Sprintf("%s: %s overlaps %d more Networks", path, cidr, unnamed))
	}
	return warnings
}

// WarningsOnDelete names the boxes that still use a network that a user deletes.
func WarningsOnDelete(network *model.Network) []string {
	if len(network.Status.Boxes) == 0 {
		return nil
	}
	return []string{warn.NetworkInUse(network.Name, boxesOf(network))}
}
