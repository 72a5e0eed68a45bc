// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package corruptobject

import (
	"bytes"
	"context"
	"encoding/binary"

	"k8s.io/apiserver/pkg/storage/value"
)

// kmsPrefix is what values begin with that only a KMS plugin can decrypt. The plugin may be away for a moment, which says
// nothing about the value.
var kmsPrefix = []byte("k8s:enc:kms:")

// keepGoing marks the context of a read that leaves out what it cannot read.
type keepGoing struct{}

func withKeepGoing(ctx context.Context) context.Context {
	return context.WithValue(ctx, keepGoing{}, true)
}

func keepsGoing(ctx context.Context) bool { return ctx.Value(keepGoing{}) != nil }

// transformer checks that a value is that of the object that its key names. For a read that keeps going it hands the key, and
// any error, to the codec.
type transformer struct{ value.Transformer }

// TransformFromStorage returns the data of the object, in an envelope for a read that keeps going.
func (t transformer) TransformFromStorage(ctx context.Context, stored []byte, dataCtx value.Context) ([]byte, bool, error) {
	key := dataCtx.AuthenticatedData()
	data, stale, err := t.Transformer.TransformFromStorage(ctx, stored, dataCtx)
	if err == nil {
		err = verifyIdentity(data, key)
	}
	switch {
	case !keepsGoing(ctx):
		return data, stale, err
	case err == nil:
		return envelop(key, "", data), stale, nil
	case ctx.Err() != nil || bytes.HasPrefix(stored, kmsPrefix):
		return nil, false, err
	default:
		return envelop(key, err.Error(), nil), false, nil
	}
}

// envelopePrefix is what envelopes begin with. They are never stored.
var envelopePrefix = []byte("modelbox:stored:")

// envelop returns data together with the key that it is stored at, and the reason why it cannot be read, if any.
func envelop(key []byte, reason string, data []byte) []byte {
	envelope := make([]byte, 0, len(envelopePrefix)+2*binary.MaxVarintLen32+len(key)+len(reason)+len(data))
	envelope = append(envelope, envelopePrefix...)
	envelope = binary.AppendUvarint(envelope, uint64(len(key)))
	envelope = append(envelope, key...)
	envelope = binary.AppendUvarint(envelope, uint64(len(reason)))
	envelope = append(envelope, reason...)
	return append(envelope, data...)
}

// open returns what was put into an envelope. It returns false for anything else.
func open(envelope []byte) (key []byte, reason string, data []byte, isEnvelope bool) {
	rest, isEnvelope := bytes.CutPrefix(envelope, envelopePrefix)
	if !isEnvelope {
		return nil, "", nil, false
	}
	next := func() []byte {
		length, read := binary.Uvarint(rest)
		part := rest[read : read+int(length)]
		rest = rest[read+int(length):]
		return part
	}
	key, reason = next(), string(next())
	return key, reason, rest, true
}
