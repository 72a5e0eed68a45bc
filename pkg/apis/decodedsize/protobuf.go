// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package decodedsize

import (
	"errors"
	"reflect"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/messages"
)

// errMalformed is of what is no protobuf. Decoders are more lenient in what they take for the number of a field: nothing
// may reach them that was not counted.
var errMalformed = errors.New("malformed protobuf")

// OfProtobuf returns how many bytes of memory an object of the struct type takes, of which data is the protobuf form. It
// returns a TooLargeError for more than the limit, a TooManyError for a list or a map that is too long, and an error for
// data that is malformed. It allocates next to nothing.
func OfProtobuf(data []byte, structType reflect.Type, limit int64) (int64, error) {
	walk := &protobufWalk{estimate: estimate{limit: limit}}
	if err := walk.add(1, int64(structType.Size())); err != nil {
		return 0, err
	}
	if err := walk.message(data, messages.Of(structType)); err != nil {
		return 0, err
	}
	return walk.bytes, nil
}

type protobufWalk struct {
	estimate
	// counts are how many values each field of the messages has that are being read, one message after the other.
	counts []int32
}

// message counts what a message has.
func (w *protobufWalk) message(data []byte, message *messages.Message) error {
	first := len(w.counts)
	defer func() { w.counts = w.counts[:first] }()
	for len(data) > 0 {
		number, wireType, value, rest, err := cutField(data)
		if err != nil {
			return err
		}
		data = rest
		field, isKnown := message.Field(number)
		if !isKnown {
			continue // no decoder keeps it
		}
		if err := w.field(value, wireType, field, first, int(number)); err != nil {
			return err
		}
	}
	return nil
}

// cutField returns the first field of a message, whose value is as it is encoded, and the rest of the message.
func cutField(message []byte) (number protowire.Number, wireType protowire.Type, value, rest []byte, err error) {
	number, wireType, length := protowire.ConsumeTag(message)
	if length < 0 {
		return 0, 0, nil, nil, errMalformed
	}
	value = message[length:]
	if length = protowire.ConsumeFieldValue(number, wireType, value); length < 0 {
		return 0, 0, nil, nil, errMalformed
	}
	return number, wireType, value[:length], value[length:], nil
}

// field counts one value of a field. The counts of its message begin at first.
func (w *protobufWalk) field(value []byte, wireType protowire.Type, field *messages.Field, first, number int) error {
	w.enter(field.Name)
	defer w.leave()
	values, times := int64(1), int64(1)
	if wireType == protowire.BytesType {
		value, _ = protowire.ConsumeBytes(value)
		if field.IsList && field.IsNumeric && !field.IsMap {
			values = int64(len(value)) // packed: at least a byte each
		}
	}
	if field.IsList {
		times = growth
		for len(w.counts) <= first+number {
			w.counts = append(w.counts, 0)
		}
		if w.counts[first+number] += int32(values); w.counts[first+number] > MaxElements {
			return w.tooMany()
		}
	}
	if err := w.add(values, values*times*field.Bytes); err != nil {
		return err
	}
	switch {
	case wireType != protowire.BytesType:
		return nil
	case field.IsMap:
		return w.entry(value, field.Message)
	case field.Message != nil:
		return w.message(value, field.Message)
	default:
		return w.add(0, int64(len(value)))
	}
}

// entry counts what an entry of a map has beside its key and value themselves.
func (w *protobufWalk) entry(data []byte, message *messages.Message) error {
	for len(data) > 0 {
		number, wireType, value, rest, err := cutField(data)
		if err != nil {
			return err
		}
		data = rest
		if wireType != protowire.BytesType {
			continue
		}
		value, _ = protowire.ConsumeBytes(value)
		const valueNumber = 2
		if number == valueNumber && message != nil {
			if err := w.message(value, message); err != nil {
				return err
			}
			continue
		}
		if err := w.add(0, int64(len(value))); err != nil {
			return err
		}
	}
	return nil
}
