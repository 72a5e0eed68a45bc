// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"encoding/json"
	"errors"
	"fmt"

	cbor "k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// errNotRollingUpdate says what can be decoded into a RollingUpdate.
var errNotRollingUpdate = errors.New(`rollingUpdate must be a percentage such as "30%", a number of pods, or an object with maxSurge, maxUnavailable or both, such as {"maxSurge": 1, "maxUnavailable": 0}`)

// NewRollingUpdate returns the RollingUpdate of one value for both what may be added and what may be taken away.
func NewRollingUpdate(step intstr.IntOrString) *RollingUpdate {
	return &RollingUpdate{Type: RollingUpdateType(step.Type), IntVal: step.IntVal, StrVal: step.StrVal}
}

// Step returns the one value of a RollingUpdate, false for an object.
func (r *RollingUpdate) Step() (intstr.IntOrString, bool) {
	if r.Type == RollingUpdateObject {
		return intstr.IntOrString{}, false
	}
	return intstr.IntOrString{Type: intstr.Type(r.Type), IntVal: r.IntVal, StrVal: r.StrVal}, true
}

// MarshalJSON implements json.Marshaler.
func (r RollingUpdate) MarshalJSON() ([]byte, error) {
	encoded, err := r.encoded()
	if err != nil {
		return nil, err
	}
	return json.Marshal(encoded)
}

// MarshalCBOR implements the marshaler of CBOR.
func (r RollingUpdate) MarshalCBOR() ([]byte, error) {
	encoded, err := r.encoded()
	if err != nil {
		return nil, err
	}
	return cbor.Marshal(encoded)
}

// encoded returns what is encoded in place of the RollingUpdate.
func (r *RollingUpdate) encoded() (any, error) {
	switch r.Type {
	case RollingUpdateInt:
		return r.IntVal, nil
	case RollingUpdateString:
		return r.StrVal, nil
	case RollingUpdateObject:
		object := map[string]*intstr.IntOrString{}
		if r.MaxSurge != nil {
			object["maxSurge"] = r.MaxSurge
		}
		if r.MaxUnavailable != nil {
			object["maxUnavailable"] = r.MaxUnavailable
		}
		return object, nil
	default:
		return nil, fmt.Errorf("impossible RollingUpdate.Type %d", r.Type)
	}
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *RollingUpdate) UnmarshalJSON(data []byte) error {
	return r.decode(func(into any) error { return json.Unmarshal(data, into) })
}

// UnmarshalCBOR implements the unmarshaler of CBOR.
func (r *RollingUpdate) UnmarshalCBOR(data []byte) error {
	return r.decode(func(into any) error { return cbor.Unmarshal(data, into) })
}

// decode takes the form that what is encoded has. It takes no field that it does not know, whatever validation the
// client asked for: what is meant by such an object would be lost.
func (r *RollingUpdate) decode(decode func(any) error) error {
	var (
		number int32
		text   string
		object map[string]*intstr.IntOrString
	)
	switch {
	case decode(&number) == nil:
		*r = RollingUpdate{Type: RollingUpdateInt, IntVal: number}
	case decode(&text) == nil:
		*r = RollingUpdate{Type: RollingUpdateString, StrVal: text}
	case decode(&object) == nil:
		*r = RollingUpdate{Type: RollingUpdateObject, MaxSurge: object["maxSurge"], MaxUnavailable: object["maxUnavailable"]}
		delete(object, "maxSurge")
		delete(object, "maxUnavailable")
		if len(object) > 0 {
			return errNotRollingUpdate
		}
	default:
		return errNotRollingUpdate
	}
	return nil
}

// OpenAPISchemaType returns no type: in OpenAPI v2 a value of several types is one of any.
func (RollingUpdate) OpenAPISchemaType() []string { return nil }

// OpenAPISchemaFormat returns no format.
func (RollingUpdate) OpenAPISchemaFormat() string { return "" }

// OpenAPIV3OneOfTypes returns the types of which a value has one in OpenAPI v3.
func (RollingUpdate) OpenAPIV3OneOfTypes() []string { return []string{"integer", "string", "object"} }
