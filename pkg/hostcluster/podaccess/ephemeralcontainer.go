// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package podaccess

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
)

// EphemeralContainers is the subresource of pods that ephemeral containers are added by.
const EphemeralContainers = "ephemeralcontainers"

// AddEphemeralContainer adds the container to the pod. See the function of that name.
func (a *Access) AddEphemeralContainer(ctx context.Context, pod *corev1.Pod, container *corev1.EphemeralContainer, options metav1.PatchOptions) error {
	_, err := AddEphemeralContainer(ctx, a.client.CoreV1(), pod, container, options)
	return err
}

// AddEphemeralContainer adds the container to the pod, and returns the pod as it is then. Others may change the pod at the same
// time. A pod of the same name with another UID is another one, and refused with 409; one that has a container of that name is
// refused with 422, unless it is the same container: then nothing changes. What the API server refuses, as for Pod Security, is
// returned as it is. It needs the right to patch the subresource.
func AddEphemeralContainer(ctx context.Context, client corev1client.PodsGetter, pod *corev1.Pod, container *corev1.EphemeralContainer, options metav1.PatchOptions) (*corev1.Pod, error) {
	// Strategic merge adds to a list what that has not by name. Nothing but this container is sent, so that there is no conflict
	// with others who add theirs; the order, which it would be the first in, is that of kubectl.
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
	return client.Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, options, EphemeralContainers)
}
