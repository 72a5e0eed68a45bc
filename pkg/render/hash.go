// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package render has what the renders of all kinds share. A render turns an object into the children that it asks for. It is
// pure: no clock, no client, no randomness. The same object always gives the same bytes, whatever renders it: the
// controller, a preview or a test.
package render

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// Hash returns what identifies the render that a child was last written from; empty when it never was.
func Hash(child metav1.Object) string {
	return child.GetAnnotations()[modelv1.RenderHashAnnotation]
}

// WithHash returns the child that the configuration describes, in the form that server-side apply takes, with
// modelv1.RenderHashAnnotation. It hashes the JSON of the configuration, not the Go value: a new field in a library's struct
// must not look like a change of the owner.
func WithHash(configuration runtime.ApplyConfiguration) (*unstructured.Unstructured, error) {
	data, err := json.Marshal(configuration)
	if err != nil {
		return nil, fmt.Errorf("encoding %T: %w", configuration, err)
	}
	child := &unstructured.Unstructured{}
	if err := child.UnmarshalJSON(data); err != nil {
		return nil, fmt.Errorf("decoding %T: %w", configuration, err)
	}
	sum := sha256.Sum256(data)
	Annotate(child, modelv1.RenderHashAnnotation, hex.EncodeToString(sum[:8]))
	return child, nil
}

// Annotate sets an annotation of a rendered child.
func Annotate(child *unstructured.Unstructured, key, value string) {
	annotations := child.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = value
	child.SetAnnotations(annotations)
}
