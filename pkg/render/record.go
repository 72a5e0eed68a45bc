// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/decodedsize"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/jsonform"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/unknownfields"
)

// recordVersion is the first byte of a record. A gzip stream of the object in protobuf follows it.
const recordVersion = 1

// ErrRecordTooLarge is returned if even the identity and the spec of an object do not fit into its record.
var ErrRecordTooLarge = errors.New("the object is too large to be recorded")

// Recordable is an object of this API of a kind that is recorded in the cluster.
type Recordable interface {
	metav1.Object
	Size() int
	Marshal() ([]byte, error)
	Unmarshal(data []byte) error
}

// RecordLimits are the limits for a record, in bytes.
type RecordLimits struct {
	// Object is the limit for the object before compression, so that users who can write records cannot exhaust the memory of the
	// programs that read them.
	Object int
	// Value is the limit for the record.
	Value int
	// Decoded is the limit for the memory of the object, as package decodedsize estimates it. A record of a few hundred bytes can
	// have hundreds of thousands of empty containers.
	Decoded int64
}

// RecordedMeta returns the recorded part of the metadata of an object. The result shares memory with the object.
func RecordedMeta(object metav1.Object) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name:              object.GetName(),
		Namespace:         object.GetNamespace(),
		UID:               object.GetUID(),
		CreationTimestamp: object.GetCreationTimestamp(),
		Generation:        object.GetGeneration(),
		Labels:            object.GetLabels(),
		Annotations:       object.GetAnnotations(),
		OwnerReferences:   object.GetOwnerReferences(),
		Finalizers:        object.GetFinalizers(),
	}
}

// EncodeRecord returns the record of an object, which must have RecordedMeta and no status. Equal objects have equal records. If
// the object exceeds the limits, EncodeRecord removes parts of its metadata, in this order: the annotation of "kubectl apply", all
// other annotations, the labels, the owner references, and the finalizers. It returns ErrRecordTooLarge if the rest still exceeds
// the limits.
func EncodeRecord(object Recordable, limits RecordLimits) (string, error) {
	leaveOut := []func(metav1.Object){
		func(object metav1.Object) {
			object.SetAnnotations(withoutKey(object.GetAnnotations(), corev1.LastAppliedConfigAnnotation))
		},
		func(object metav1.Object) { object.SetAnnotations(nil) },
		func(object metav1.Object) { object.SetLabels(nil) },
		func(object metav1.Object) { object.SetOwnerReferences(nil) },
		func(object metav1.Object) { object.SetFinalizers(nil) },
	}
	for {
		value, err := encodeRecord(object, limits)
		if !errors.Is(err, ErrRecordTooLarge) || len(leaveOut) == 0 {
			return value, err
		}
		leaveOut[0](object)
		leaveOut = leaveOut[1:]
	}
}

// DecodeRecord decodes the record of an object from EncodeRecord of this release or an earlier one. It does not exceed the limits.
// It returns an error for a record that is incomplete or corrupt, and for a record with fields that this release does not have.
func DecodeRecord(value string, into Recordable, limits RecordLimits) error {
	if len(value) > limits.Value {
		return fmt.Errorf("a record has %d bytes, more than the %d that it may have", len(value), limits.Value)
	}
	data, err := base64.StdEncoding.Strict().DecodeString(value)
	if err != nil {
		return fmt.Errorf("decoding a record: %w", err)
	}
	if strings.ContainsAny(value, "\r\n") {
		return errors.New("decoding a record: it has line breaks")
	}
	if len(data) == 0 || data[0] != recordVersion {
		return fmt.Errorf("decoding a record: it does not begin with version %d", recordVersion)
	}
	if data, err = decompress(data[1:], limits.Object); err != nil {
		return fmt.Errorf("decompressing a record: %w", err)
	}
	if _, err := decodedsize.OfProtobuf(data, reflect.TypeOf(into).Elem(), limits.Decoded); err != nil {
		return fmt.Errorf("decoding the object of a record: %w", err)
	}
	// A record of a later release may have fields that this release would drop.
	if err := unknownfields.Verify(data, reflect.TypeOf(into).Elem()); err != nil {
		return fmt.Errorf("decoding the object of a record: %w", err)
	}
	if err := into.Unmarshal(data); err != nil {
		return fmt.Errorf("decoding the object of a record: %w", err)
	}
	// A list with a value without a JSON form could not be encoded.
	if err := jsonform.Find(into); err != nil {
		return fmt.Errorf("decoding the object of a record: it has no JSON form: %w", err)
	}
	if into.GetName() == "" || into.GetNamespace() == "" || into.GetUID() == "" {
		return errors.New("decoding the object of a record: it has no name, no namespace or no UID")
	}
	return nil
}

// encodeRecord returns the record of an object, or ErrRecordTooLarge if it exceeds the limits.
func encodeRecord(object Recordable, limits RecordLimits) (string, error) {
	if object.Size() > limits.Object {
		return "", ErrRecordTooLarge
	}
	data, err := object.Marshal()
	if err != nil {
		return "", fmt.Errorf("encoding the record: %w", err)
	}
	if _, err := decodedsize.OfProtobuf(data, reflect.TypeOf(object).Elem(), limits.Decoded); err != nil {
		return "", ErrRecordTooLarge
	}
	compressed, err := compress(data)
	if err != nil {
		return "", fmt.Errorf("compressing the record: %w", err)
	}
	if base64.StdEncoding.EncodedLen(len(compressed)) > limits.Value {
		return "", ErrRecordTooLarge
	}
	return base64.StdEncoding.EncodeToString(compressed), nil
}

// compressors is a pool, because creating a compressor is much more expensive than compressing an ordinary object.
var compressors = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

func compress(data []byte) ([]byte, error) {
	compressed := bytes.NewBuffer([]byte{recordVersion})
	writer := compressors.Get().(*gzip.Writer)
	defer compressors.Put(writer)
	writer.Reset(compressed)
	if _, err := writer.Write(data); err != nil {
		return nil, err
	}
	if err := writer.Close(); err != nil {
		return nil, err
	}
	return compressed.Bytes(), nil
}

// decompress returns the decompressed data. It returns an error if the checksum is wrong, the data exceeds the limit, or more data
// follows.
func decompress(compressed []byte, limit int) ([]byte, error) {
	rest := bytes.NewReader(compressed)
	reader, err := gzip.NewReader(rest)
	if err != nil {
		return nil, err
	}
	reader.Multistream(false)
	data, err := io.ReadAll(io.LimitReader(reader, int64(limit)+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > limit:
		return nil, fmt.Errorf("it has more than %d bytes", limit)
	case rest.Len() > 0:
		return nil, errors.New("something follows it")
	}
	return data, nil
}

// withoutKey returns a copy of the map without the key.
func withoutKey(from map[string]string, key string) map[string]string {
	rest := map[string]string{}
	for k, v := range from {
		if k != key {
			rest[k] = v
		}
	}
	return rest
}
