// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package fields

import "sigs.k8s.io/structured-merge-diff/v6/schema"

// uncompleted are the types of elements of atomic lists to which the API adds no fields, by their names in the schema. If such an
// element has a field that the render leaves out, another manager has set it.
var uncompleted = map[string]bool{
	"io.k8s.api.networking.v1.IngressRule": true, // a host, in place of any
}

// hasAddition returns whether the live element of an atomic list has a field that the render leaves out and that the API has
// not added.
func hasAddition(ref schema.TypeRef, want, live any) bool {
	if ref.NamedType == nil || !uncompleted[*ref.NamedType] {
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
