// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package unknownfields finds what a later release has stored of an object. The types of the API drop fields that they do
// not have when they are decoded, and what is written then has lost them.
package unknownfields

import (
	"fmt"
	"reflect"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/messages"
)

// statusField is left out at the top: a server that does not know a field of a status writes a status of its own.
const statusField = "status"

// mapValueNumber is the number of the value in an entry of a map.
const mapValueNumber protowire.Number = 2

// Error is a field that a type does not have.
type Error struct {
	// Path leads to the message that the field is in, such as spec.containers. Empty for the object itself.
	Path string
	// Number is the number of the field.
	Number int32
}

func (e *Error) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("it has a field number %d, which this release does not know", e.Number)
	}
	return fmt.Sprintf("its %s has a field number %d, which this release does not know", e.Path, e.Number)
}

// Verify returns an Error for the first field that an object of the type has in its protobuf form and would lose, outside of
// its status. Whether the data is complete is left to who decodes it.
func Verify(data []byte, of reflect.Type) error {
	if unknown := find(messages.Of(of), data, true); unknown != nil {
		return unknown
	}
	return nil
}

// find returns the first field of a message that is not known.
func find(message *messages.Message, data []byte, isObject bool) *Error {
	for len(data) > 0 {
		number, wireType, length := protowire.ConsumeTag(data)
		if length < 0 {
			return nil
		}
		data = data[length:]
		value, length := data, protowire.ConsumeFieldValue(number, wireType, data)
		if length < 0 {
			return nil
		}
		value, data = value[:length], data[length:]
		known, isKnown := message.Field(number)
		if !isKnown {
			return &Error{Number: int32(number)}
		}
		if known.Message == nil || wireType != protowire.BytesType || isObject && known.Name == statusField {
			continue
		}
		value, _ = protowire.ConsumeBytes(value)
		if known.IsMap {
			value = BytesField(value, mapValueNumber)
		}
		if unknown := find(known.Message, value, false); unknown != nil {
			unknown.Path = join(known.Name, unknown.Path)
			return unknown
		}
	}
	return nil
}

// BytesField returns the first field of that number in a message in its protobuf form, without copying it, where it has a
// length of its own, as messages do; nil where there is none.
func BytesField(message []byte, wanted protowire.Number) []byte {
	for len(message) > 0 {
		number, wireType, length := protowire.ConsumeField(message)
		if length < 0 {
			return nil
		}
		if number == wanted && wireType == protowire.BytesType {
			_, _, tagLength := protowire.ConsumeTag(message)
			value, _ := protowire.ConsumeBytes(message[tagLength:])
			return value
		}
		message = message[length:]
	}
	return nil
}

func join(name, path string) string {
	if name == "" || path == "" {
		return name + path
	}
	return name + "." + path
}
