// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cliutil

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// Manifest returns a box as a user would write it: with its type, and without the fields that only the server sets.
func Manifest(box *modelv1.ModelBox) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(box)
	if err != nil {
		return nil, fmt.Errorf("encoding box %s: %w", box.Name, err)
	}
	delete(content, "status")
	unstructured.RemoveNestedField(content, "metadata", "creationTimestamp")
	unstructured.RemoveNestedField(content, "spec", "podTemplate", "metadata", "creationTimestamp")
	ports, _, _ := unstructured.NestedSlice(content, "spec", "ports")
	for i := range ports {
		// Its type has no omitempty.
		if port, ok := ports[i].(map[string]any); ok && port["targetPort"] == int64(0) {
			delete(port, "targetPort")
		}
	}
	if len(ports) > 0 {
		if err := unstructured.SetNestedSlice(content, ports, "spec", "ports"); err != nil {
			return nil, fmt.Errorf("encoding the ports of box %s: %w", box.Name, err)
		}
	}
	manifest := &unstructured.Unstructured{Object: content}
	manifest.SetGroupVersionKind(modelv1.SchemeGroupVersion.WithKind("ModelBox"))
	return manifest, nil
}
