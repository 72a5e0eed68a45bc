// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

const (
	// maxAnnotatedBytes is the limit for an object in modelv1.RecordAnnotation before compression.
	maxAnnotatedBytes = 512 << 10

	// maxAnnotatedMemory is the limit for the memory of such an object. A spec of 96 KiB takes up to 14 MiB if it has only empty
	// elements. The metadata takes less.
	maxAnnotatedMemory = 24 << 20

	// otherAnnotationBytes is the space on a child for annotations that its owner does not set: about 100 bytes of this controller,
	// 2,300 bytes of the Deployment controller, and annotations of users. A Deployment copies its annotations to its ReplicaSets.
	otherAnnotationBytes = 16 << 10
)

// EncodeRecordAnnotation returns the value of modelv1.RecordAnnotation for an object, like EncodeRecord. Its limit is the limit of
// Kubernetes for annotations, without the annotations that the owner sets on the child.
func EncodeRecordAnnotation(object Recordable, annotations map[string]string) (string, error) {
	limit := apivalidation.TotalAnnotationSizeLimitB - otherAnnotationBytes - len(modelv1.RecordAnnotation)
	for key, value := range annotations {
		limit -= len(key) + len(value)
	}
	return EncodeRecord(object, RecordLimits{Object: maxAnnotatedBytes, Value: limit, Decoded: maxAnnotatedMemory})
}

// DecodeRecordAnnotation decodes an object from the modelv1.RecordAnnotation of a child, like DecodeRecord.
func DecodeRecordAnnotation(value string, into Recordable) error {
	return DecodeRecord(value, into, RecordLimits{Object: maxAnnotatedBytes, Value: apivalidation.TotalAnnotationSizeLimitB, Decoded: maxAnnotatedMemory})
}
