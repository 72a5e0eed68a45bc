// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FinalizersPatch returns a merge patch that sets the finalizers of this very version of an object.
func FinalizersPatch(object metav1.Object, finalizers []string) ([]byte, error) {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": object.GetUID(), "resourceVersion": object.GetResourceVersion(), "finalizers": finalizers,
	}})
	if err != nil {
		return nil, fmt.Errorf("encoding the finalizers: %w", err)
	}
	return patch, nil
}
