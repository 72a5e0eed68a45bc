// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package corruptobject

import (
	"bytes"
	"context"
	"encoding/binary"

	"k8s.io/apiserver/pkg/storage/value"
)

// kmsPrefix is the prefix of values that only a KMS plugin can decrypt. If the plugin is unavailable for a moment, the value is not
// corrupt.
var kmsPrefix = []byte("k8s:enc:kms:")

// tolerantKey is the key of a context for a tolerant read: a read that leaves out objects that it cannot read.
type tolerantKey struct{}

func withTolerance(ctx context.Context) context.Context {
	return context.WithValue(ctx, tolerantKey{}, true)
}

func isTolerant(ctx context.Context) bool { return ctx.Value(tolerantKey{}) != nil }

// transformer verifies that the metadata of an object matches its key. In a tolerant read, it passes the key and any error to the
// codec in an envelope.
type transformer struct{ value.Transformer }

// TransformFromStorage implements value.Transformer. In a tolerant read, it returns the data in an envelope.
func (t transformer) TransformFromStorage(ctx context.Context, stored []byte, dataCtx value.Context) ([]byte, bool, error) {
	key := dataCtx.AuthenticatedData()
	data, stale, err := t.Transformer.TransformFromStorage(ctx, stored, dataCtx)
	if err == nil {
		err = verifyIdentity(data, key)
	}
	switch {
	case !isTolerant(ctx):
		return data, stale, err
	case err == nil:
		return envelop(key, "", data), stale, nil
	case ctx.Err() != nil || bytes.HasPrefix(stored, kmsPrefix):
		return nil, false, err
	default:
		return envelop(key, err.Error(), nil), false, nil
	}
}

// envelopePrefix is the prefix of envelopes, which are never stored.
var envelopePrefix = []byte("modelbox:stored:")

// envelop returns an envelope with the data, its key, and the reason why it cannot be read, empty for none.
func envelop(key []byte, reason string, data []byte) []byte {
	envelope := make([]byte, 0, len(envelopePrefix)+2*binary.MaxVarintLen32+len(key)+len(reason)+len(data))
	envelope = append(envelope, envelopePrefix...)
	envelope = binary.AppendUvarint(envelope, uint64(len(key)))
	envelope = append(envelope, key...)
	envelope = binary.AppendUvarint(envelope, uint64(len(reason)))
	envelope = append(envelope, reason...)
	return append(envelope, data...)
}

// open returns the contents of an envelope. isEnvelope is false for other data.
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
