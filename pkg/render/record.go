// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/decodedsize"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/unknownfields"
)

// recordVersion is the first byte of a record, before a gzip stream of the object's protobuf form.
const recordVersion = 1

// ErrRecordTooLarge says that the identity and the spec of an object alone do not fit into its record.
var ErrRecordTooLarge = errors.New("the object is too large to be recorded")

// Recordable is an object of this API that the cluster has a record of.
type Recordable interface {
	metav1.Object
	Size() int
	Marshal() ([]byte, error)
	Unmarshal(data []byte) error
}

// RecordLimits are how large a record may be, in bytes.
type RecordLimits struct {
	// Object is how large the object may be before it is compressed, so that a user who can write records cannot fill the memory of
	// the programs that read them.
	Object int
	// Value is how large the record itself may be.
	Value int
	// Decoded is about how much memory the object may take, see package decodedsize: a few hundred bytes of a record can be
	// hundreds of thousands of empty containers.
	Decoded int64
}

// RecordedMeta is what is recorded of the metadata of an object. It shares the memory of the object.
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

// EncodeRecord returns the record of an object, which has RecordedMeta and no status. The same object has the same record.
// Where the limits are too little, metadata is taken out of the object, each part whole: first the annotation of "kubectl
// apply", then all other annotations, the labels, the owner references, and the finalizers. It is ErrRecordTooLarge when not
// even the rest fits.
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

// DecodeRecord reads an object from its record, which EncodeRecord made in this release or in an earlier one. It takes no more
// memory than the limits allow, and returns an error for anything that is not whole, or that this release would not keep whole.
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
	// A later release has recorded what would be lost.
	if err := unknownfields.Verify(data, reflect.TypeOf(into).Elem()); err != nil {
		return fmt.Errorf("decoding the object of a record: %w", err)
	}
	if err := into.Unmarshal(data); err != nil {
		return fmt.Errorf("decoding the object of a record: %w", err)
	}
	// Protobuf has values that JSON does not have, such as an IntOrString of a third type. A list with one cannot be encoded.
	if err := json.NewEncoder(io.Discard).Encode(into); err != nil {
		return fmt.Errorf("decoding the object of a record: it has no JSON form: %w", err)
	}
	if into.GetName() == "" || into.GetNamespace() == "" || into.GetUID() == "" {
		return errors.New("decoding the object of a record: it has no name, no namespace or no UID")
	}
	return nil
}

// encodeRecord returns ErrRecordTooLarge when the object or its record would be larger than the limits.
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

// compressors are kept because making one costs much more than compressing an ordinary object with it.
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

// decompress checks the checksum, that there is no more than the limit, and that nothing follows the data.
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

// withoutKey returns a copy of the map that lacks the key.
func withoutKey(from map[string]string, key string) map[string]string {
	rest := map[string]string{}
	for k, v := range from {
		if k != key {
			rest[k] = v
		}
	}
	return rest
}
