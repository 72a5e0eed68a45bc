// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package subresource

import (
	"bytes"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// NewList returns the objects in the form of the API.
func NewList(objects []*unstructured.Unstructured) (*metav1.List, error) {
	list := &metav1.List{Items: make([]runtime.RawExtension, 0, len(objects))}
	for _, object := range objects {
		item, err := encodeItem(object)
		if err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		list.Items = append(list.Items, item)
	}
	return list, nil
}

// encodeItem returns the object as an item of a List, whose bytes are what counts. The object beside them keeps the encoder for
// protobuf from taking the List apart: it would wrap each item in another message, which no client expects.
func encodeItem(object *unstructured.Unstructured) (runtime.RawExtension, error) {
	data, err := object.MarshalJSON()
	if err != nil {
		return runtime.RawExtension{}, fmt.Errorf("encoding %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return runtime.RawExtension{Raw: bytes.TrimSpace(data), Object: object}, nil
}
