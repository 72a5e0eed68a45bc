// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package ephemeralcontainer adds ephemeral containers to pods.
package ephemeralcontainer

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
)

// Subresource is the subresource of pods that adds ephemeral containers.
const Subresource = "ephemeralcontainers"

// Add adds the container to the pod, and returns the changed pod. Other clients may change the pod at the same time.
//
// Add returns 409 if the pod has been replaced by another pod of its name, with another UID. It returns 422 if the pod has another
// container of that name. If the pod has the container already, nothing changes. Add returns every other error of the cluster, such
// as an error of Pod Security, as it is. The client needs the permission to patch the subresource.
func Add(ctx context.Context, client corev1client.PodsGetter, pod *corev1.Pod, container *corev1.EphemeralContainer, options metav1.PatchOptions) (*corev1.Pod, error) {
	// A strategic merge patch adds the container to the list by its name. The patch has no other container, so that it does not
	// conflict with clients that add theirs. Without the order, the container would become the first one.
	var order []any
	for i := range pod.Spec.EphemeralContainers {
		order = append(order, map[string]any{"name": pod.Spec.EphemeralContainers[i].Name})
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": pod.UID},
		"spec": map[string]any{
			"$setElementOrder/ephemeralContainers": append(order, map[string]any{"name": container.Name}),
			"ephemeralContainers":                  []any{container},
		},
	})
	if err != nil {
		return nil, fmt.Errorf("encoding the container %s for the pod %s: %w", container.Name, pod.Name, err)
	}
	return client.Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, options, Subresource)
}
