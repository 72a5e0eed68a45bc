// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package render turns a box into the objects that it asks for. It is pure: no clock, no client, no randomness.
// The same box always gives the same bytes, whatever renders it: the controller, a preview or a test.
package render

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// Scaling says who decides the number of pods of a box.
type Scaling struct {
	// Autoscaled is the number of pods that the Deployment has from an autoscaler and keeps; nil where spec.replicas of
	// the box is the number.
	Autoscaled *int32
}

// ScaledByBox is a number of pods that is spec.replicas of the box.
var ScaledByBox = Scaling{}

// ScaledByAutoscaler is a number of pods that is left alone.
func ScaledByAutoscaler(replicas int32) Scaling { return Scaling{Autoscaled: &replicas} }

// Children returns the objects that the box asks for: exactly the fields that the box decides, in the form that
// server-side apply takes. Each carries modelv1.RenderHashAnnotation and a controller owner reference to the box, and the
// Deployment, which comes first, the record of the box unless that is too large. The box has to be defaulted and valid.
func Children(box *modelv1.ModelBox, scaling Scaling) ([]*unstructured.Unstructured, error) {
	deployment, err := deployment(box, scaling)
	if err != nil {
		return nil, fmt.Errorf("rendering the Deployment: %w", err)
	}
	configurations := []runtime.ApplyConfiguration{deployment}
	if len(box.Spec.Ports) > 0 {
		configurations = append(configurations, service(box))
	}

	children := make([]*unstructured.Unstructured, 0, len(configurations))
	for _, configuration := range configurations {
		child, err := withHash(configuration)
		if err != nil {
			return nil, err
		}
		children = append(children, child)
	}
	// The record is no part of the hash: a box of which nothing but its metadata changes asks for nothing else.
	record, err := Record(box)
	switch {
	case err == nil:
		annotate(children[0], modelv1.RecordAnnotation, record)
	case !errors.Is(err, ErrRecordTooLarge):
		return nil, err
	}
	return children, nil
}

// Hash returns what identifies the render that a child was last written from; empty when it never was.
func Hash(child metav1.Object) string {
	return child.GetAnnotations()[modelv1.RenderHashAnnotation]
}

// withHash hashes the JSON of the configuration, not the Go value: a new field in a library's struct must not
// look like a change of the box.
func withHash(configuration runtime.ApplyConfiguration) (*unstructured.Unstructured, error) {
	data, err := json.Marshal(configuration)
	if err != nil {
		return nil, fmt.Errorf("encoding %T: %w", configuration, err)
	}
	child := &unstructured.Unstructured{}
	if err := child.UnmarshalJSON(data); err != nil {
		return nil, fmt.Errorf("decoding %T: %w", configuration, err)
	}
	sum := sha256.Sum256(data)
	annotate(child, modelv1.RenderHashAnnotation, hex.EncodeToString(sum[:8]))
	return child, nil
}

func annotate(child *unstructured.Unstructured, key, value string) {
	annotations := child.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = value
	child.SetAnnotations(annotations)
}
