// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

const (
	// maxAnnotatedBytes is how large an object may be in modelv1.RecordAnnotation before it is compressed.
	maxAnnotatedBytes = 512 << 10

	// maxAnnotatedMemory is how much memory such an object may take. A spec of 96 KiB takes up to 14 MiB, if it has nothing but
	// empty elements, and its metadata less.
	maxAnnotatedMemory = 24 << 20

	// otherAnnotationBytes are left on a child for annotations that are not of its owner: some 100 bytes of this
	// controller's, 2,300 of the Deployment controller's, and those that people set. A Deployment copies its annotations to
	// its ReplicaSets.
	otherAnnotationBytes = 16 << 10
)

// EncodeRecordAnnotation returns the value of modelv1.RecordAnnotation for an object, as EncodeRecord does. It shares what
// Kubernetes lets a child have in annotations with those that the owner asks for on the child.
func EncodeRecordAnnotation(object Recordable, annotations map[string]string) (string, error) {
	limit := apivalidation.TotalAnnotationSizeLimitB - otherAnnotationBytes - len(modelv1.RecordAnnotation)
	for key, value := range annotations {
		limit -= len(key) + len(value)
	}
	return EncodeRecord(object, RecordLimits{Object: maxAnnotatedBytes, Value: limit, Decoded: maxAnnotatedMemory})
}

// DecodeRecordAnnotation reads an object from the modelv1.RecordAnnotation of a child, as DecodeRecord does.
func DecodeRecordAnnotation(value string, into Recordable) error {
	return DecodeRecord(value, into, RecordLimits{Object: maxAnnotatedBytes, Value: apivalidation.TotalAnnotationSizeLimitB, Decoded: maxAnnotatedMemory})
}
