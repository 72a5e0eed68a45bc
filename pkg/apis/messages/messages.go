// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package messages describes the protobuf messages of the API by the Go types that they are decoded into, for code that
// looks at an encoded object before it decodes it.
package messages

import (
	"reflect"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
)

// Message describes a struct type.
type Message struct {
	fields []Field
	names  map[string]*Field
}

// Field describes a field of a message.
type Field struct {
	// Name is the JSON name of the field, empty for a field that JSON has inline.
	Name string
	// Message describes the values of the field. It is nil where these are no messages, and where they encode themselves.
	Message *Message
	// IsList is whether the field has any number of values, and IsMap whether these are the entries of a map.
	IsList, IsMap bool
	// IsNumeric is whether the values are numbers or booleans. Several of them can be packed into one value on the wire.
	IsNumeric bool
	// Bytes is how much memory each value takes beside the message that has the field: an element of a list with that,
	// the key and the value of a map, or what a pointer points to. It does not include what the value itself points to.
	Bytes int64

	isKnown bool
}

// Field returns the field of that number, and whether there is one.
func (m *Message) Field(number protowire.Number) (*Field, bool) {
	if int64(number) >= int64(len(m.fields)) || !m.fields[number].isKnown {
		return nil, false
	}
	return &m.fields[number], true
}

// FieldNamed returns the field with the name in JSON, and whether it exists. The fields of an inline field are fields of the
// message.
func (m *Message) FieldNamed(name string) (*Field, bool) {
	field, isKnown := m.names[name]
	return field, isKnown
}

// LargestElement returns how many bytes the largest element takes of a list that a message has, or one below it.
func (m *Message) LargestElement() int64 { return m.largestElement(map[*Message]bool{}) }

func (m *Message) largestElement(seen map[*Message]bool) int64 {
	if seen[m] {
		return 0
	}
	seen[m] = true
	largest := int64(0)
	for i := range m.fields {
		if field := &m.fields[i]; field.IsList {
			largest = max(largest, field.Bytes)
		}
		if inner := m.fields[i].Message; inner != nil {
			largest = max(largest, inner.largestElement(seen))
		}
	}
	return largest
}

var (
	mu    sync.RWMutex
	known = map[reflect.Type]*Message{}
)

// Of returns the description of a struct type. The same type has the same one.
func Of(structType reflect.Type) *Message {
	mu.RLock()
	m := known[structType]
	mu.RUnlock()
	if m != nil {
		return m
	}
	mu.Lock()
	defer mu.Unlock()
	return addLocked(structType)
}

func addLocked(structType reflect.Type) *Message {
	if m := known[structType]; m != nil {
		return m
	}
	m := &Message{names: map[string]*Field{}}
	known[structType] = m // before its fields, which may be of the type
	for i := range structType.NumField() {
		goField := structType.Field(i)
		number, isEncoded := numberOf(goField.Tag.Get("protobuf"))
		if !isEncoded {
			continue
		}
		if missing := int(number) + 1 - len(m.fields); missing > 0 {
			m.fields = append(m.fields, make([]Field, missing)...)
		}
		m.fields[number] = fieldLocked(goField)
	}
	for i := range m.fields {
		field := &m.fields[i]
		switch {
		case !field.isKnown || field.Name == "-":
		case field.Name != "":
			m.names[field.Name] = field
		case field.Message != nil:
			for name, inner := range field.Message.names {
				m.names[name] = inner
			}
		}
	}
	return m
}

func fieldLocked(goField reflect.StructField) Field {
	field := Field{isKnown: true}
	field.Name, _, _ = strings.Cut(goField.Tag.Get("json"), ",")
	value := goField.Type
	for {
		switch value.Kind() {
		case reflect.Pointer:
			value = value.Elem()
			field.Bytes += int64(value.Size())
			continue
		case reflect.Map:
			field.IsMap, field.IsList = true, true
			field.Bytes += int64(value.Key().Size()) + int64(value.Elem().Size())
			value = value.Elem()
			continue
		case reflect.Slice:
			if value.Elem().Kind() != reflect.Uint8 {
				field.IsList = true
				value = value.Elem()
				field.Bytes += int64(value.Size())
				continue
			}
		case reflect.Struct:
			if !isOpaque(value) {
				field.Message = addLocked(value)
			}
		case reflect.String:
		default:
			field.IsNumeric = true
		}
		return field
	}
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
func isOpaque(structType reflect.Type) bool {
	for i := range structType.NumField() {
		if _, isEncoded := numberOf(structType.Field(i).Tag.Get("protobuf")); isEncoded {
			return false
		}
	}
	return structType.NumField() > 0
}
