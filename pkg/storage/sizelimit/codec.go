// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package sizelimit limits the memory of one object in every server. etcd limits the size of stored values, but objects are
// compressed before: 15 KB in etcd can be an object of 70 MB.
package sizelimit

import (
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/klog/v2"
)

const (
	// MaxObjectBytes is the largest size of an object before compression, in bytes. It is the default of --max-request-bytes of
	// etcd, so that the limit is the same as for built-in kinds.
	MaxObjectBytes = 3 << 19
	// MaxManagedFieldsBytes is the part of it for managed fields. Many small fields, such as a thousand variables, are three times
	// as large in managed fields as in the spec. The rest is for the spec and the status, so that managed fields alone cannot
	// prevent a controller from writing the status.
	MaxManagedFieldsBytes = MaxObjectBytes * 2 / 3
	// MaxManagedFieldsEntries is the largest number of field managers of an object. k8s.io/apiserver keeps ten entries of managers
	// that update, and all entries of managers that apply.
	MaxManagedFieldsEntries = 100
)

// WithLimits returns a getter of options for storage that refuses to write objects that are too large. If a stored object of an
// earlier release has managed fields that are too large, the storage drops them when it reads the object.
func WithLimits(getter generic.RESTOptionsGetter) generic.RESTOptionsGetter {
	return limited{getter}
}

type limited struct{ generic.RESTOptionsGetter }

// GetRESTOptions implements generic.RESTOptionsGetter.
func (l limited) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	options, err := l.RESTOptionsGetter.GetRESTOptions(resource, example)
	if err != nil {
		return options, err
	}
	config := *options.StorageConfig
	config.Codec = codec{config.Codec}
	options.StorageConfig = &config
	return options, nil
}

type codec struct{ runtime.Codec }

// Encode implements runtime.Encoder. It returns a TooLargeError if the object is too large.
func (c codec) Encode(object runtime.Object, to io.Writer) error {
	if accessor, err := meta.Accessor(object); err == nil {
		if err := validateManagedFields(accessor.GetManagedFields()); err != nil {
			return err
		}
	}
	counted := &countingWriter{Writer: to}
	if err := c.Codec.Encode(object, counted); err != nil {
		return err
	}
	if counted.bytes > MaxObjectBytes {
		return newTooLargeError(fmt.Sprintf("the object has %d bytes in the store, limit is %d", counted.bytes, MaxObjectBytes))
	}
	return nil
}

// Decode implements runtime.Decoder. It empties managed fields that exceed the limits, because updates of the object would fail
// otherwise.
func (c codec) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	object, kind, err := c.Codec.Decode(data, defaults, into)
	if err != nil {
		return object, kind, err
	}
	if accessor, err := meta.Accessor(object); err == nil {
		if err := validateManagedFields(accessor.GetManagedFields()); err != nil {
			accessor.SetManagedFields(nil)
			klog.Background().V(2).Info("Dropped the managed fields of a stored object", "kind", kind.Kind, "object", klog.KObj(accessor), "reason", err.status.Message)
		}
	}
	return object, kind, nil
}

func validateManagedFields(entries []metav1.ManagedFieldsEntry) *TooLargeError {
	const advice = "clear them with the JSON patch [{\"op\":\"replace\",\"path\":\"/metadata/managedFields\",\"value\":[{}]}]"
	if len(entries) > MaxManagedFieldsEntries {
		return newTooLargeError(fmt.Sprintf("metadata.managedFields has %d entries, limit is %d: %s", len(entries), MaxManagedFieldsEntries, advice))
	}
	bytes := 0
	for i := range entries {
		bytes += entries[i].Size()
	}
	if bytes > MaxManagedFieldsBytes {
		return newTooLargeError(fmt.Sprintf("metadata.managedFields has %d bytes, limit is %d: %s", bytes, MaxManagedFieldsBytes, advice))
	}
	return nil
}

// countingWriter counts written bytes.
type countingWriter struct {
	io.Writer
	bytes int
}

// Write implements io.Writer.
func (w *countingWriter) Write(data []byte) (int, error) {
	written, err := w.Writer.Write(data)
	w.bytes += written
	return written, err
}
