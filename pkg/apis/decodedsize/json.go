// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package decodedsize

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/messages"
)

// entryBytes is what an entry takes of an object that has no type.
const entryBytes = 64

// OfJSON returns how many bytes of memory an object of the struct type takes, of which data is the JSON form, or a patch in
// that form. It returns a TooLargeError for more than the limit, and a TooManyError for a list or a map that is too long.
// Data that is no JSON is left to the decoder, which refuses it before it decodes anything.
func OfJSON(data []byte, structType reflect.Type, limit int64) (int64, error) {
	walk := &jsonWalk{estimate: estimate{limit: limit}, data: data, objectBytes: entryBytes}
	if err := walk.add(0, int64(structType.Size())); err != nil {
		return 0, err
	}
	if err := walk.value(messages.Of(structType), nil); err != nil {
		return 0, err
	}
	return walk.bytes, nil
}

// OfJSONPatch is OfJSON for a JSON patch of an object of the struct type. Each object in the patch, and in the maxCopied
// bytes that the operation "copy" may add, can become the largest element of a list that such an object has.
func OfJSONPatch(data []byte, structType reflect.Type, maxCopied, limit int64) (int64, error) {
	walk := &jsonWalk{estimate: estimate{limit: limit}, data: data, objectBytes: entryBytes + growth*messages.Of(structType).LargestElement()}
	// A string may have escaped letters.
	if bytes.Contains(data, []byte("copy")) || bytes.Contains(data, []byte(`\u`)) {
		copied := maxCopied / int64(len("{},"))
		if err := walk.add(copied, copied*walk.objectBytes); err != nil {
			return 0, err
		}
	}
	if err := walk.value(nil, nil); err != nil {
		return 0, err
	}
	return walk.bytes, nil
}

// jsonWalk reads valid JSON once.
type jsonWalk struct {
	estimate
	data  []byte
	depth int
	// objectBytes is what each object takes whose type is not known.
	objectBytes int64
}

// value counts the value that begins with what is next. It is a message, or the list or the map of a field; nil for what
// no type has a field for.
func (w *jsonWalk) value(message *messages.Message, elements *messages.Field) error {
	if err := w.add(1, 0); err != nil {
		return err
	}
	switch w.next() {
	case '{':
		return w.object(message, elements)
	case '[':
		if elements != nil && elements.IsMap {
			elements = nil
		}
		return w.elements(']', func() error { return w.element(elements) })
	case '"':
		return w.add(0, int64(len(w.text())))
	default:
		w.data = w.data[literalLength(w.data):]
		return nil
	}
}

func (w *jsonWalk) object(message *messages.Message, entries *messages.Field) error {
	isMap := entries != nil && entries.IsMap
	if message == nil && !isMap {
		if err := w.add(0, w.objectBytes); err != nil {
			return err
		}
	}
	return w.elements('}', func() error {
		name := w.text()
		if w.next() == ':' {
			w.data = w.data[1:]
		}
		if err := w.add(0, int64(len(name))); err != nil {
			return err
		}
		if isMap {
			return w.element(entries)
		}
		if message != nil {
			if field, isKnown := message.FieldNamed(unquoted(name)); isKnown {
				return w.field(field)
			}
		}
		return w.element(nil)
	})
}

// field counts the value of a field of a message.
func (w *jsonWalk) field(field *messages.Field) error {
	w.enter(field.Name)
	defer w.leave()
	if field.IsList {
		return w.value(nil, field)
	}
	if err := w.add(0, field.Bytes); err != nil {
		return err
	}
	return w.value(field.Message, nil)
}

// element counts an element of a list or an entry of a map; nil for one of no type.
func (w *jsonWalk) element(field *messages.Field) error {
	if field == nil {
		if err := w.add(0, entryBytes); err != nil {
			return err
		}
		return w.value(nil, nil)
	}
	if err := w.add(0, growth*field.Bytes); err != nil {
		return err
	}
	return w.value(field.Message, nil)
}

// elements calls element for each one up to the end of the object or the list that begins with what is next.
func (w *jsonWalk) elements(end byte, element func() error) error {
	if w.depth++; w.depth > maxDepth {
		w.data = nil // no decoder takes it
	}
	defer func() { w.depth-- }()
	if len(w.data) > 0 {
		w.data = w.data[1:]
	}
	for count := 0; ; count++ {
		switch c := w.next(); {
		case c == 0 || c == end:
			if c == end {
				w.data = w.data[1:]
			}
			return nil
		case c == ',':
			w.data = w.data[1:]
		}
		if count >= MaxElements {
			return w.tooMany()
		}
		if err := element(); err != nil {
			return err
		}
	}
}

// next returns the first byte that is no white space, 0 at the end.
func (w *jsonWalk) next() byte {
	for i, c := range w.data {
		if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			w.data = w.data[i:]
			return c
		}
	}
	w.data = nil
	return 0
}

// text returns the string that begins with what is next, with its quotation marks.
func (w *jsonWalk) text() []byte {
	w.next()
	end := 1
	for ; end < len(w.data) && w.data[end] != '"'; end++ {
		if w.data[end] == '\\' {
			end++
		}
	}
	end = min(end+1, len(w.data))
	text := w.data[:end]
	w.data = w.data[end:]
	return text
}

// unquoted returns what the string says.
func unquoted(text []byte) string {
	if bytes.IndexByte(text, '\\') < 0 {
		return string(bytes.Trim(text, `"`))
	}
	var unquoted string
	_ = json.Unmarshal(text, &unquoted) // what is no string is the name of no field
	return unquoted
}

// literalLength returns how many bytes of a number, a boolean or null are next.
func literalLength(data []byte) int {
	if end := bytes.IndexAny(data, ",]} \t\r\n"); end > 0 {
		return end
	}
	return len(data)
}
