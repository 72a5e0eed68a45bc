// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package compression keeps what is stored small. Most of an object are the names of the fields that each of its managers
// has, which repeat each other.
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

// Prefix is what compressed values begin with, before a frame of Zstandard (RFC 8878).
const Prefix = "modelbox:zstd:v1:"

// maxValueBytes is the largest value that is decompressed. An object takes at most sizelimit.MaxObjectBytes. Earlier releases
// had no limit, but a request of at most 3 MiB, which added to what was stored before.
const maxValueBytes = 8 << 20

// The fastest level leaves no more than a twentieth beyond what the best one does, in a fraction of its time.
var encoder = must(zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithLowerEncoderMem(true)))

// Zero is as many at a time as there are processors.
var decoder = must(zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxValueBytes), zstd.WithDecoderLowmem(true)))

// must is for what fails only where it is called with options that there are not.
func must[T any](made T, err error) T {
	utilruntime.Must(err)
	return made
}

// compress returns the data as it is stored.
func compress(data []byte) []byte { return encoder.EncodeAll(data, []byte(Prefix)) }

// Decompress returns the data of what is stored and not encrypted, and whether it was compressed. It fails where that is cut
// off or was changed, and for more than 8 MiB.
func Decompress(stored []byte) (data []byte, wasCompressed bool, err error) {
	frame, wasCompressed := bytes.CutPrefix(stored, []byte(Prefix))
	if !wasCompressed {
		return stored, false, nil
	}
	if data, err = decoder.DecodeAll(frame, nil); err != nil {
		return nil, true, fmt.Errorf("decompressing what is stored: %w", err)
	}
	return data, true, nil
}

// WithCompression returns a getter of options whose storage compresses what it stores, before anything is encrypted. What is
// stored otherwise is read all the same, and compressed with its next write.
func WithCompression(getter generic.RESTOptionsGetter) generic.RESTOptionsGetter {
	return compressed{getter}
}

type compressed struct{ generic.RESTOptionsGetter }

// GetRESTOptions returns the options of a resource.
func (c compressed) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	options, err := c.RESTOptionsGetter.GetRESTOptions(resource, example)
	if err != nil {
		return options, err
	}
	config := *options.StorageConfig
	if config.Transformer == nil {
		// As etcd's storage does: it refuses to take what is encrypted for plain.
		config.Transformer = identity.NewEncryptCheckTransformer()
	}
	config.Transformer = transformer{config.Transformer}
	options.StorageConfig = &config
	return options, nil
}

// transformer compresses, and leaves the rest to what encrypts.
type transformer struct{ encrypting value.Transformer }

// TransformToStorage compresses the data.
func (t transformer) TransformToStorage(ctx context.Context, data []byte, dataCtx value.Context) ([]byte, error) {
	return t.encrypting.TransformToStorage(ctx, compress(data), dataCtx)
}

// TransformFromStorage returns the data as it was before, whether compressed or not. It is stale where it was not.
func (t transformer) TransformFromStorage(ctx context.Context, data []byte, dataCtx value.Context) ([]byte, bool, error) {
	stored, isStale, err := t.encrypting.TransformFromStorage(ctx, data, dataCtx)
	if err != nil {
		return nil, isStale, err
	}
	data, wasCompressed, err := Decompress(stored)
	return data, isStale || !wasCompressed, err
}
