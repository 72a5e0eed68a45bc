// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/audit"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelbox"
)

const (
	// podAuditAnnotation and containerAuditAnnotation of the audit event of a request say what it was led to.
	podAuditAnnotation       = "model.github.com/pod"
	containerAuditAnnotation = "model.github.com/container"
)

// ConnectREST is a subresource of boxes that proxies connections to the subresource of the same name of one of their pods. It does
// not look at the data in the streams: the client and the kubelet agree on their protocol, WebSocket or SPDY.
//
// The server connects to the pod with its own permissions, for a user who has the right to the same subresource of that pod.
type ConnectREST struct {
	store       *genericregistry.Store
	children    modelbox.ChildReader
	access      modelbox.PodAccess
	permissions permissions
	// subresource is the name of the subresource of boxes and of pods.
	subresource string
	// newOptions returns the empty options of a request, and parse what they ask for, or 400.
	newOptions func() runtime.Object
	parse      func(options runtime.Object) (connection, error)
}

// connection is what a request asks for.
type connection struct {
	// pod and container are empty where they are left to the server.
	pod, container string
	// toContainer is whether the connection is to one container, and not to the pod as a whole.
	toContainer bool
	// podOptions returns the options of the request for the pod.
	podOptions func(container string) runtime.Object
}

var _ rest.Connecter = &ConnectREST{}

// New returns the empty options of a request.
func (r *ConnectREST) New() runtime.Object { return r.newOptions() }

// Destroy does nothing: the underlying store belongs to REST.
func (*ConnectREST) Destroy() {}

// ConnectMethods returns those that a connection may begin with: GET for a WebSocket, and POST for SPDY.
func (*ConnectREST) ConnectMethods() []string { return []string{http.MethodGet, http.MethodPost} }

// NewConnectOptions returns the empty options of a request, which has no path below the subresource.
func (r *ConnectREST) NewConnectOptions() (runtime.Object, bool, string) {
	return r.newOptions(), false, ""
}

// Connect returns what joins the connection of the request with one to a pod of the box of the name.
func (r *ConnectREST) Connect(ctx context.Context, name string, options runtime.Object, responder rest.Responder) (http.Handler, error) {
	asked, err := r.parse(options)
	if err != nil {
		return nil, err
	}
	// Before anything is read: a request that lasts as long as its client likes has no share in the limits of requests.
	if err := r.access.AdmitStream(ctx, genericapirequest.NamespaceValue(ctx)); err != nil {
		return nil, err
	}
	if err := r.permissions.checkConnect(ctx, name, r.subresource); err != nil {
		return nil, err
	}
	box, err := servedBox(ctx, r.store, name, &metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	if err := r.access.CheckAllowed(ctx, box.Namespace, "create", r.subresource); err != nil {
		return nil, err
	}
	pods, err := modelbox.ReadCluster(ctx, func(ctx context.Context) ([]corev1.Pod, error) { return r.children.Pods(ctx, box) })
	if err != nil {
		return nil, err
	}
	pod, err := modelbox.SelectPod(box, pods, asked.pod)
	if err != nil {
		return nil, err
	}
	container := ""
	if asked.toContainer {
		if container, err = modelbox.SelectContainer(box, pod, asked.container); err != nil {
			return nil, err
		}
	}
	if err := r.permissions.checkConnectPod(ctx, pod.Name, r.subresource); err != nil {
		return nil, err
	}
	query, err := podQuery(asked.podOptions(container))
	if err != nil {
		return nil, err
	}
	recordPodAccess(ctx, box, r.subresource, pod.Name, container)
	return r.access.Connect(types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, r.subresource, query, responder), nil
}

// podQuery returns the options of a request for a pod as its query.
func podQuery(options runtime.Object) (url.Values, error) {
	query, err := clientgoscheme.ParameterCodec.EncodeParameters(options, corev1.SchemeGroupVersion)
	if err != nil {
		return nil, fmt.Errorf("encoding %T: %w", options, err)
	}
	return query, nil
}

// recordPodAccess records which user was connected to which pod. The cluster only sees the server as the user.
func recordPodAccess(ctx context.Context, box *modelv1.ModelBox, subresource, pod, container string) {
	audit.AddAuditAnnotations(ctx, podAuditAnnotation, pod, containerAuditAnnotation, container)
	var user string
	if info, ok := genericapirequest.UserFrom(ctx); ok {
		user = info.GetName()
	}
	klog.FromContext(ctx).Info("Connecting a user to a pod", "user", user, "modelbox", klog.KObj(box), "subresource", subresource,
		"pod", pod, "container", container, "auditID", audit.GetAuditIDTruncated(ctx))
}
