// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"io"
	"net/http"
	"net/url"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/registry/rest"
)

// PodAccess is how the subresources of a box reach its pods, with the permissions of the server.
type PodAccess interface {
	// CheckAllowed returns 403, with what grants the right and modelv1.PodAccessMissingCause, where the server itself may not do
	// that with that subresource of the pods of a namespace.
	CheckAllowed(ctx context.Context, namespace, verb, subresource string) error
	// Connect returns a handler that upgrades the request and proxies its connection to the subresource of the pod. It reports
	// errors before the upgrade to the responder. AdmitStream must have admitted the request.
	Connect(pod types.NamespacedName, subresource string, query url.Values, responder rest.Responder) http.Handler
	// AddEphemeralContainer adds the container to the pod with the UID. It returns a refusal of the cluster unchanged.
	AddEphemeralContainer(ctx context.Context, pod *corev1.Pod, container *corev1.EphemeralContainer, options metav1.PatchOptions) error
	// AdmitStream counts the request of ctx as a stream to the pods of the namespace until ctx is done. It returns 429 where a
	// limit is reached.
	AdmitStream(ctx context.Context, namespace string) error
	// AdmitLogs is AdmitStream for a request that reads logs, and returns the function that opens the logs, as pods/log does. The
	// stream that is counted has room for one open log. Each further log counts as another stream until it is closed: openLog
	// returns 429 where a limit is reached.
	AdmitLogs(ctx context.Context, namespace string) (openLog func(ctx context.Context, pod types.NamespacedName, options *corev1.PodLogOptions) (io.ReadCloser, error), err error)
	// CheckRoom returns 429 where a limit leaves no room for so many more streams of the user of a request to the pods of the
	// namespace.
	CheckRoom(ctx context.Context, namespace string, streams int) error
	// UntilStop returns a context that is done with ctx, and before that when the server stops.
	UntilStop(ctx context.Context) (context.Context, context.CancelFunc)
}
