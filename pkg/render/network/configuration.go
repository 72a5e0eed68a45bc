// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// cniVersion is a version that all releases of the reference plugins support.
const cniVersion = "0.3.1"

// configuration is the configuration of a reference plugin of CNI.
type configuration struct {
	CNIVersion string `json:"cniVersion"`
	// Name is unique on a node, because host-local stores the assigned addresses under it.
	Name string `json:"name"`
	Type string `json:"type"`

	// Bridge is the name of the bridge. It changes with the gateway, because the bridge has the address of the gateway.
	Bridge       string `json:"bridge,omitempty"`
	IsGateway    bool   `json:"isGateway,omitempty"`
	ForceAddress bool   `json:"forceAddress,omitempty"`
	// VLAN is the VLAN of a bridge, and VLANID the VLAN of an interface.
	VLAN   int32 `json:"vlan,omitempty"`
	VLANID int32 `json:"vlanId,omitempty"`

	Master string `json:"master,omitempty"`
	Mode   string `json:"mode,omitempty"`
	MTU    int32  `json:"mtu,omitempty"`
	IPAM   ipam   `json:"ipam"`
}

// ipam is the configuration of the plugin host-local, which assigns addresses of the ranges on each node. It does not assign the
// gateway, the first address and the broadcast address.
type ipam struct {
	Type   string         `json:"type"`
	Ranges [][]addresses  `json:"ranges"`
	Routes []gatewayRoute `json:"routes,omitempty"`
}

type addresses struct {
	Subnet  string `json:"subnet"`
	Gateway string `json:"gateway"`
}

// gatewayRoute is a route through the gateway.
type gatewayRoute struct {
	Destination string `json:"dst"`
}

// configurationOf returns the configuration of the plugin with the name of the type of the Network.
func configurationOf(network *modelv1.Network) (*configuration, error) {
	spec := &network.Spec
	if _, err := Capacity(spec); err != nil {
		return nil, err
	}
	config := &configuration{
		CNIVersion: cniVersion,
		// The name of a namespace cannot contain '.'.
		Name:   network.Namespace + "." + network.Name,
		Type:   string(spec.Type),
		Master: spec.Master,
		MTU:    spec.MTU,
		IPAM: ipam{
			Type:   "host-local",
			Ranges: [][]addresses{{{Subnet: spec.CIDR, Gateway: spec.Gateway}}},
		},
	}
	for _, route := range spec.Routes {
		config.IPAM.Routes = append(config.IPAM.Routes, gatewayRoute{route})
	}
	switch spec.Type {
	case modelv1.NetworkTypeMACVLAN:
		config.Mode = "bridge"
	case modelv1.NetworkTypeIPVLAN:
		config.Mode = "l2"
	case modelv1.NetworkTypeVLAN:
		config.VLANID = spec.VLAN
	default:
		config.Bridge, config.IsGateway, config.ForceAddress, config.VLAN = bridgeName(network), true, true, spec.VLAN
	}
	return config, nil
}

// bridgeName returns a name that is unique on a node. The name of an interface has at most 15 bytes, including "." and a VLAN,
// which the plugin appends.
func bridgeName(network *modelv1.Network) string {
	sum := sha256.Sum256([]byte(network.Namespace + "/" + network.Name))
	return "mb" + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:5]))
}
