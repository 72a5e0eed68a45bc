// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// recordVersion is the first byte of a record, before a gzip stream of the box's protobuf form.
const recordVersion = 1

const (
	// maxRecordBytes is how large a box may be in a record before it is compressed, so that nobody who can write
	// annotations can fill the memory of who reads them.
	maxRecordBytes = 512 << 10

	// otherAnnotationBytes are left on a Deployment, and on its ReplicaSets, for annotations that are not of the box:
	// some 100 bytes of this controller's, 2,300 of the Deployment controller's, and those that people set.
	otherAnnotationBytes = 16 << 10
)

// ErrRecordTooLarge says that the identity and the spec of a box alone do not fit into the annotations of its Deployment.
var ErrRecordTooLarge = errors.New("the box is too large to be recorded in an annotation")

// Record returns the value of modelv1.RecordAnnotation for the box: its identity, metadata and spec, without status,
// resourceVersion and managed fields. The same box has the same record. What Kubernetes lets an object have in
// annotations is shared with spec.annotations; where that is too little, parts are left out, each whole: first the
// annotation of "kubectl apply", then all other annotations, the labels, the owner references, and the finalizers.
// It is ErrRecordTooLarge when not even the rest fits, which no valid spec causes.
func Record(box *modelv1.ModelBox) (string, error) {
	limit := apivalidation.TotalAnnotationSizeLimitB - otherAnnotationBytes - len(modelv1.RecordAnnotation)
	for key, value := range box.Spec.Annotations {
		limit -= len(key) + len(value)
	}
	recorded := &modelv1.ModelBox{
		ObjectMeta: metav1.ObjectMeta{
			Name:              box.Name,
			Namespace:         box.Namespace,
			UID:               box.UID,
			CreationTimestamp: box.CreationTimestamp,
			Generation:        box.Generation,
			Labels:            box.Labels,
			Annotations:       box.Annotations,
			OwnerReferences:   box.OwnerReferences,
			Finalizers:        box.Finalizers,
		},
		Spec: box.Spec,
	}
	leaveOut := []func(*metav1.ObjectMeta){
		func(m *metav1.ObjectMeta) {
			m.Annotations = withoutKey(m.Annotations, corev1.LastAppliedConfigAnnotation)
		},
		func(m *metav1.ObjectMeta) { m.Annotations = nil },
		func(m *metav1.ObjectMeta) { m.Labels = nil },
		func(m *metav1.ObjectMeta) { m.OwnerReferences = nil },
		func(m *metav1.ObjectMeta) { m.Finalizers = nil },
	}
	for {
		value, err := encodeRecord(recorded, limit)
		if !errors.Is(err, ErrRecordTooLarge) || len(leaveOut) == 0 {
			return value, err
		}
		leaveOut[0](&recorded.ObjectMeta)
		leaveOut = leaveOut[1:]
	}
}

// ReadRecord returns the box of a record, which Record made in this release or in an earlier one. It takes no more memory
// than the largest box does, and returns an error for anything that is not whole.
func ReadRecord(value string) (*modelv1.ModelBox, error) {
	if len(value) > apivalidation.TotalAnnotationSizeLimitB {
		return nil, fmt.Errorf("a record has %d bytes, more than an annotation may have", len(value))
	}
	data, err := base64.StdEncoding.Strict().DecodeString(value)
	if err != nil {
		return nil, fmt.Errorf("decoding a record: %w", err)
	}
	if strings.ContainsAny(value, "\r\n") {
		return nil, errors.New("decoding a record: it has line breaks")
	}
	if len(data) == 0 || data[0] != recordVersion {
		return nil, fmt.Errorf("decoding a record: it does not begin with version %d", recordVersion)
	}
	if data, err = decompress(data[1:]); err != nil {
		return nil, fmt.Errorf("decompressing a record: %w", err)
	}
	box := &modelv1.ModelBox{}
	if err := box.Unmarshal(data); err != nil {
		return nil, fmt.Errorf("decoding the box of a record: %w", err)
	}
	if box.Name == "" || box.Namespace == "" || box.UID == "" {
		return nil, errors.New("decoding the box of a record: it has no name, no namespace or no UID")
	}
	return box, nil
}

// encodeRecord returns ErrRecordTooLarge when the value would have more bytes than limit.
func encodeRecord(box *modelv1.ModelBox, limit int) (string, error) {
	if box.Size() > maxRecordBytes {
		return "", ErrRecordTooLarge
	}
	data, err := box.Marshal()
	if err != nil {
		return "", fmt.Errorf("encoding the record: %w", err)
	}
	compressed, err := compress(data)
	if err != nil {
		return "", fmt.Errorf("compressing the record: %w", err)
	}
	if base64.StdEncoding.EncodedLen(len(compressed)) > limit {
		return "", ErrRecordTooLarge
	}
	return base64.StdEncoding.EncodeToString(compressed), nil
}

// compressors are kept because making one costs much more than compressing an ordinary box with it.
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

// decompress checks the checksum, and that nothing follows the data.
func decompress(compressed []byte) ([]byte, error) {
	rest := bytes.NewReader(compressed)
	reader, err := gzip.NewReader(rest)
	if err != nil {
		return nil, err
	}
	reader.Multistream(false)
	data, err := io.ReadAll(io.LimitReader(reader, maxRecordBytes+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxRecordBytes:
		return nil, fmt.Errorf("it has more than %d bytes", maxRecordBytes)
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
