// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package podaccess leads requests on to pods, with the permissions of the server. Who may have that is for the caller to decide.
package podaccess

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	apirest "k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/hostcluster/ephemeralcontainer"
)

// component is what grants the server its permissions for pods.
const component = "artifacts/components/pod-access"

// Access reaches the pods of a cluster.
type Access struct {
	config *rest.Config
	client kubernetes.Interface
	// logs is a client with a connection for each request.
	logs    kubernetes.Interface
	streams *streams
	// running is done when the server stops.
	running context.Context
}

// New returns an access to the cluster of the configuration, for as many connections at a time as the limits allow, all of which
// end when stop is closed.
func New(config *rest.Config, limits Limits, stop <-chan struct{}) (*Access, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1 // the requests are limited where they come in
	client, err := kubernetes.NewForConfig(forRequests(config))
	if err != nil {
		return nil, fmt.Errorf("creating the client for pods: %w", err)
	}
	logs, err := newLogsClient(config)
	if err != nil {
		return nil, err
	}
	return &Access{config, client, logs, newStreams(limits), wait.ContextForChannel(stop)}, nil
}

// CheckAllowed returns 403, with what grants the right and PodAccessMissingCause, where the server itself may not do that with that
// subresource of the pods of a namespace.
func (a *Access) CheckAllowed(ctx context.Context, namespace, verb, subresource string) error {
	review, err := a.client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: namespace, Verb: verb, Resource: "pods", Subresource: subresource,
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		return apierrors.NewServiceUnavailable(fmt.Sprintf("asking the cluster for the rights of the server: %v", err))
	}
	if review.Status.Allowed {
		return nil
	}
	refusal := apierrors.NewForbidden(corev1.Resource("pods/"+subresource), "", fmt.Errorf("the server modelbox-apiserver cannot %s pods/%s in the namespace %q: an administrator can grant the permission with %s",
		verb, subresource, namespace, component))
	refusal.ErrStatus.Details.Causes = []metav1.StatusCause{{
		Type: modelv1.PodAccessMissingCause, Message: fmt.Sprintf("the server may not %s pods/%s", verb, subresource),
	}}
	return refusal
}

// Connect returns a handler that upgrades the request and proxies its connection to the subresource of the pod. It reports errors
// before the upgrade to the responder. AdmitStream must have admitted the request.
func (a *Access) Connect(pod types.NamespacedName, subresource string, query url.Values, responder apirest.Responder) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		location, err := a.location(pod, subresource, query)
		if err != nil {
			responder.Error(apierrors.NewInternalError(err))
			return
		}
		ctx, cancel := a.UntilStop(r.Context())
		defer cancel()
		a.serveUpgrade(w, r.WithContext(ctx), location, responder)
	})
}

// AddEphemeralContainer adds the container to the pod, as ephemeralcontainer.Add does.
func (a *Access) AddEphemeralContainer(ctx context.Context, pod *corev1.Pod, container *corev1.EphemeralContainer, options metav1.PatchOptions) error {
	_, err := ephemeralcontainer.Add(ctx, a.client.CoreV1(), pod, container, options)
	return err
}

// UntilStop returns a context that is done with ctx, and before that when the server stops.
func (a *Access) UntilStop(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(a.running, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

// location is where the cluster serves the subresource of the pod.
func (a *Access) location(pod types.NamespacedName, subresource string, query url.Values) (*url.URL, error) {
	base, _, err := rest.DefaultServerUrlFor(a.config)
	if err != nil {
		return nil, fmt.Errorf("reading the address of the cluster: %w", err)
	}
	location := base.JoinPath("api", "v1", "namespaces", pod.Namespace, "pods", pod.Name, subresource)
	location.RawQuery = query.Encode()
	return location, nil
}
