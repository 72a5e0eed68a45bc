// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package compression compresses stored values. Most of the size of an object is the managed fields, which repeat names of fields
// for each field manager.
package compression

import (
	"bytes"
	"context"
	"fmt"

	"github.com/klauspost/compress/zstd"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage/value"
	"k8s.io/apiserver/pkg/storage/value/encrypt/identity"
)

// Prefix is the prefix of compressed values. A Zstandard frame (RFC 8878) follows it.
const Prefix = "modelbox:zstd:v1:"

// maxValueBytes is the largest size of a decompressed value. An object has at most sizelimit.MaxObjectBytes. Earlier releases had
// no limit for objects, but a limit of 3 MiB for a request, which adds to the stored object.
const maxValueBytes = 8 << 20

// The fastest level compresses to at most 5 % more bytes than the best level, in a fraction of the time.
var encoder = must(zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithLowerEncoderMem(true)))

// Concurrency 0 is the number of processors.
var decoder = must(zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxValueBytes), zstd.WithDecoderLowmem(true)))

// must returns the value. It panics on an error, which only invalid options cause.
func must[T any](made T, err error) T {
	utilruntime.Must(err)
	return made
}

// compress returns the compressed data with the prefix.
func compress(data []byte) []byte { return encoder.EncodeAll(data, []byte(Prefix)) }

// Decompress returns the decompressed data of a stored value that is not encrypted, and whether it was compressed. It returns an
// error if the value is truncated or corrupt, or if the data exceeds 8 MiB.
func Decompress(stored []byte) (data []byte, wasCompressed bool, err error) {
	frame, wasCompressed := bytes.CutPrefix(stored, []byte(Prefix))
	if !wasCompressed {
		return stored, false, nil
	}
	if data, err = decoder.DecodeAll(frame, nil); err != nil {
		return nil, true, fmt.Errorf("decompressing the stored value: %w", err)
	}
	return data, true, nil
}

// WithCompression returns a getter of options for storage that compresses values before they are encrypted. The storage also reads
// values that are not compressed. Their next write compresses them.
func WithCompression(getter generic.RESTOptionsGetter) generic.RESTOptionsGetter {
	return compressed{getter}
}

type compressed struct{ generic.RESTOptionsGetter }

// GetRESTOptions implements generic.RESTOptionsGetter.
func (c compressed) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	options, err := c.RESTOptionsGetter.GetRESTOptions(resource, example)
	if err != nil {
		return options, err
	}
	config := *options.StorageConfig
	if config.Transformer == nil {
		// The storage of etcd has the same default: it does not read encrypted values as plain values.
		config.Transformer = identity.NewEncryptCheckTransformer()
	}
	config.Transformer = transformer{config.Transformer}
	options.StorageConfig = &config
	return options, nil
}

// transformer compresses, and delegates the encryption.
type transformer struct{ encrypting value.Transformer }

// TransformToStorage implements value.Transformer. It compresses the data and encrypts it.
func (t transformer) TransformToStorage(ctx context.Context, data []byte, dataCtx value.Context) ([]byte, error) {
	return t.encrypting.TransformToStorage(ctx, compress(data), dataCtx)
}

// TransformFromStorage implements value.Transformer. It returns the decrypted and decompressed data. The value is stale if it was
// not compressed.
func (t transformer) TransformFromStorage(ctx context.Context, data []byte, dataCtx value.Context) ([]byte, bool, error) {
	stored, isStale, err := t.encrypting.TransformFromStorage(ctx, data, dataCtx)
	if err != nil {
		return nil, isStale, err
	}
	data, wasCompressed, err := Decompress(stored)
	return data, isStale || !wasCompressed, err
}
