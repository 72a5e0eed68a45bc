// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package unknownfields finds what a later release has stored of an object. The types of the API drop fields that they do
// not have when they are decoded, and what is written then has lost them.
package unknownfields

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
)

// statusField is left out at the top: whoever does not know a field of a status writes a status of its own.
const statusField = "status"

// mapValueNumber is that of the value in an entry of a map.
const mapValueNumber protowire.Number = 2

// Error is a field that a type does not have.
type Error struct {
	// Path leads to the message that the field is in, such as spec.containers. Empty for the object itself.
	Path string
	// Number is that of the field.
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
	if unknown := messageOf(of).find(data, true); unknown != nil {
		return unknown
	}
	return nil
}

// message is what is known of a type: its fields by number.
type message struct {
	fields []field
}

type field struct {
	isKnown bool
	// name is empty for what JSON has inline.
	name string
	// message is what the field has, nil where there is nothing to look into.
	message *message
	// isMap is whether there is one in each value of a map.
	isMap bool
}

var (
	messagesMu sync.RWMutex
	messages   = map[reflect.Type]*message{}
)

func messageOf(of reflect.Type) *message {
	messagesMu.RLock()
	known := messages[of]
	messagesMu.RUnlock()
	if known != nil {
		return known
	}
	messagesMu.Lock()
	defer messagesMu.Unlock()
	return addMessageLocked(of)
}

func addMessageLocked(of reflect.Type) *message {
	if known := messages[of]; known != nil {
		return known
	}
	m := &message{}
	messages[of] = m // before its fields, which may be of the type
	for i := range of.NumField() {
		goField := of.Field(i)
		number, isEncoded := numberOf(goField.Tag.Get("protobuf"))
		if !isEncoded {
			continue
		}
		name, _, _ := strings.Cut(goField.Tag.Get("json"), ",")
		f := field{isKnown: true, name: name}
		inner := goField.Type
		for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice || inner.Kind() == reflect.Map {
			f.isMap = f.isMap || inner.Kind() == reflect.Map
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct && !isOpaque(inner) {
			f.message = addMessageLocked(inner)
		}
		if missing := int(number) + 1 - len(m.fields); missing > 0 {
			m.fields = append(m.fields, make([]field, missing)...)
		}
		m.fields[number] = f
	}
	return m
}

// numberOf reads a tag such as "bytes,14,rep,name=containers".
func numberOf(tag string) (protowire.Number, bool) {
	parts := strings.Split(tag, ",")
	if len(parts) < 2 {
		return 0, false
	}
	number, err := strconv.ParseInt(parts[1], 10, 32)
	return protowire.Number(number), err == nil
}

// isOpaque returns whether a type encodes itself, as times and quantities do: none of its fields is of a message.
func isOpaque(of reflect.Type) bool {
	for i := range of.NumField() {
		if _, isEncoded := numberOf(of.Field(i).Tag.Get("protobuf")); isEncoded {
			return false
		}
	}
	return of.NumField() > 0
}

// find returns the first field of a message that is not known.
func (m *message) find(data []byte, isObject bool) *Error {
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
		if int(number) >= len(m.fields) || !m.fields[number].isKnown {
			return &Error{Number: int32(number)}
		}
		known := &m.fields[number]
		if known.message == nil || wireType != protowire.BytesType || isObject && known.name == statusField {
			continue
		}
		value, _ = protowire.ConsumeBytes(value)
		if known.isMap {
			value = BytesField(value, mapValueNumber)
		}
		if unknown := known.message.find(value, false); unknown != nil {
			unknown.Path = join(known.name, unknown.Path)
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
