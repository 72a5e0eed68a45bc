// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"net/http"
	"net/url"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/registry/rest"
)

// PodAccess is how the subresources of a box reach its pods, with the permissions of the server.
type PodAccess interface {
	// CheckAllowed returns 403, with what grants the right, where the server itself may not do that with that subresource of the
	// pods of a namespace.
	CheckAllowed(ctx context.Context, namespace, verb, subresource string) error
	// Connect returns what joins the connection of a request that is to be upgraded with one to the subresource of the pod. What
	// goes wrong before that is told the responder.
	Connect(pod types.NamespacedName, subresource string, query url.Values, responder rest.Responder) http.Handler
	// AddEphemeralContainer adds the container to the pod, which is the very one. What the cluster refuses is returned as it is.
	AddEphemeralContainer(ctx context.Context, pod *corev1.Pod, container *corev1.EphemeralContainer, options metav1.PatchOptions) error
}
