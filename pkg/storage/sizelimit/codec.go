// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package sizelimit bounds what one object takes in the memory of every server. etcd bounds the bytes that it stores, but
// objects are compressed before: 15 KB in etcd can be 70 MB of an object.
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
	// MaxObjectBytes is how large an object may be before it is compressed. It is what etcd takes in a request by default
	// (--max-request-bytes), so objects are as large here as those of built-in kinds.
	MaxObjectBytes = 3 << 19
	// MaxManagedFieldsBytes is how much of that managed fields may take. Many small fields, such as a thousand variables,
	// take three times as much in managed fields as in the spec. The rest is for the spec and the status: managed fields
	// alone never keep a controller from writing a status.
	MaxManagedFieldsBytes = MaxObjectBytes * 2 / 3
	// MaxManagedFieldsEntries is how many managers of fields an object may have. k8s.io/apiserver keeps ten of those that
	// update, and all of those that apply.
	MaxManagedFieldsEntries = 100
)

// WithLimits returns a getter of options whose storage writes no object that is too large, and drops managed fields that
// are too large when it reads an object of an earlier release.
func WithLimits(getter generic.RESTOptionsGetter) generic.RESTOptionsGetter {
	return limited{getter}
}

type limited struct{ generic.RESTOptionsGetter }

// GetRESTOptions returns the options of a resource.
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

// Encode writes an object, or returns a TooLargeError.
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
		return newTooLargeError(fmt.Sprintf("the object takes %d bytes in the store, limit is %d", counted.bytes, MaxObjectBytes))
	}
	return nil
}

// Decode reads an object. Its managed fields are empty where they exceed the limits: an update of any other field could
// not be stored otherwise.
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
		return newTooLargeError(fmt.Sprintf("metadata.managedFields takes %d bytes, limit is %d: %s", bytes, MaxManagedFieldsBytes, advice))
	}
	return nil
}

// countingWriter counts what is written.
type countingWriter struct {
	io.Writer
	bytes int
}

// Write writes and counts.
func (w *countingWriter) Write(data []byte) (int, error) {
	written, err := w.Writer.Write(data)
	w.bytes += written
	return written, err
}
