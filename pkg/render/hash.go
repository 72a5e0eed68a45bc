// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package render has the shared parts of the renders of all kinds. A render computes the children of an object. It is pure: it uses
// no clock, no client and no randomness. The same object always has the same render, in the controller, a preview or a test.
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

// Hash returns the hash of the render that a child was last written from, empty if the controller has never written it.
func Hash(child metav1.Object) string {
	return child.GetAnnotations()[modelv1.RenderHashAnnotation]
}

// WithHash returns the child of the configuration for server-side apply, with modelv1.RenderHashAnnotation. The hash is of the JSON
// form instead of the Go value, so that a new field in a struct of a library does not change it.
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
