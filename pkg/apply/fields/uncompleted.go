// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package fields

import (
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// uncompleted are the types of elements of atomic lists to which the API adds no fields, by their names in the schema. If such an
// element has a field that the render leaves out, another manager has set it.
var uncompleted = map[string]bool{
	"io.k8s.api.networking.v1.IngressRule": true, // a host, in place of any
}

// unchanged are the types of elements of atomic lists to which the API adds nothing at any depth, if the render sets the protocols of
// ports. An addition can open connections, such as a further selector of a peer.
var unchanged = map[string]bool{
	"io.k8s.api.networking.v1.NetworkPolicyIngressRule": true,
	"io.k8s.api.networking.v1.NetworkPolicyEgressRule":  true,
}

// hasAddition returns whether the live element of an atomic list has a field that the render leaves out and that the API has
// not added.
func hasAddition(ref schema.TypeRef, want, live any) bool {
	switch {
	case ref.NamedType == nil:
		return false
	case unchanged[*ref.NamedType]:
		return !value.Equals(value.NewValueInterface(want), value.NewValueInterface(live))
	case !uncompleted[*ref.NamedType]:
		return false
	}
	wanted, _ := want.(map[string]any)
	fields, _ := live.(map[string]any)
	for name := range fields {
		if _, isWanted := wanted[name]; !isWanted {
			return true
		}
	}
	return false
}
