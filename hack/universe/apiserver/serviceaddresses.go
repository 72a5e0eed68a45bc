// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"net"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	api "k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/registry/core/service/ipallocator"
	"k8s.io/kubernetes/pkg/registry/core/service/portallocator"
)

// ServiceAddresses allocates the addresses and node ports of Services.
type ServiceAddresses struct {
	addresses addressAllocator
	nodePorts portAllocator
}

// addressAllocator and portAllocator are replaced for each run. The registry of Services, which refers to them, serves all runs.
type (
	addressAllocator struct{ ipallocator.Interface }
	portAllocator    struct{ portallocator.Interface }
)

// Reset releases all addresses and node ports.
func (a *ServiceAddresses) Reset() error {
	_, network, err := net.ParseCIDR("10.96.0.0/16")
	if err != nil {
		return err
	}
	if a.addresses.Interface, err = ipallocator.NewInMemory(network); err != nil {
		return fmt.Errorf("creating the allocator of addresses: %w", err)
	}
	if a.nodePorts.Interface, err = portallocator.NewInMemory(utilnet.PortRange{Base: 30000, Size: 2768}); err != nil {
		return fmt.Errorf("creating the allocator of node ports: %w", err)
	}
	return nil
}

func (a *ServiceAddresses) families() map[api.IPFamily]ipallocator.Interface {
	return map[api.IPFamily]ipallocator.Interface{api.IPv4Protocol: &a.addresses}
}

func (a *ServiceAddresses) ports() portallocator.Interface { return &a.nodePorts }
