// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package fields

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// IsAsRendered is what the fast path says of the live object.
func (c *Comparer) IsAsRendered(rendered *unstructured.Unstructured, live Object) (bool, error) {
	kind, err := c.schemaOf(rendered)
	if err != nil {
		return false, err
	}
	return fastPath{kind.schema}.isAsRendered(kind.root, rendered, live)
}

// Find is what a walk over all fields of both finds.
var Find = (*Comparer).find

// RoundTrip is the render with all that it implies.
var RoundTrip = roundTrip

// IsImplied returns whether the fast path knows that a render without the field asks for that value, whatever it is of.
func IsImplied(field string, value any) bool {
	for _, values := range impliedValues {
		if implied, ok := values[field]; ok && implied == value {
			return true
		}
	}
	return false
}
