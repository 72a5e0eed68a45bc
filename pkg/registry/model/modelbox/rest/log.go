// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/audit"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/klog/v2"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelbox"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelbox/boxlog"
)

// maxAuditedPods is how many pods the audit event of a request names.
const maxAuditedPods = 20

// LogREST is the log subresource: the logs of the pods of a box as one text. The server reads them with its own permissions, for a
// user who has the right to the logs of these pods.
type LogREST struct {
	store       *genericregistry.Store
	children    modelbox.ChildReader
	access      modelbox.PodAccess
	permissions permissions
}

var (
	_ rest.GetterWithOptions = &LogREST{}
	_ rest.StorageMetadata   = &LogREST{}
)

// New returns an empty ModelBox, as there is no object for a log.
func (*LogREST) New() runtime.Object { return &model.ModelBox{} }

// Destroy does nothing: the underlying store belongs to REST.
func (*LogREST) Destroy() {}

// ProducesMIMETypes returns the MIME type of the logs.
func (*LogREST) ProducesMIMETypes(string) []string { return []string{"text/plain"} }

// ProducesObject returns a text.
func (*LogREST) ProducesObject(string) any { return "" }

// OverrideMetricsVerb returns CONNECT for the verb of a stream, whose duration says nothing of how long requests take.
func (*LogREST) OverrideMetricsVerb(oldVerb string) string {
	if oldVerb == http.MethodGet {
		return "CONNECT"
	}
	return oldVerb
}

// NewGetOptions returns the empty options of a request, which has no path below the subresource.
func (*LogREST) NewGetOptions() (runtime.Object, bool, string) {
	return &model.ModelBoxLogOptions{}, false, ""
}

// Get returns what streams the logs of the pods of the box.
func (r *LogREST) Get(ctx context.Context, name string, options runtime.Object) (runtime.Object, error) {
	asked, ok := options.(*model.ModelBoxLogOptions)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("expected ModelBoxLogOptions, got %T", options))
	}
	if errs := validation.ValidateModelBoxLogOptions(asked); len(errs) > 0 {
		return nil, apierrors.NewInvalid(model.Kind("ModelBoxLogOptions"), name, errs)
	}
	// Before anything is read: a request that lasts as long as its client likes has no share in the limits of requests.
	openLog, err := r.access.AdmitLogs(ctx, genericapirequest.NamespaceValue(ctx))
	if err != nil {
		return nil, err
	}
	box, err := servedBox(ctx, r.store, name, &metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	if err := r.access.CheckAllowed(ctx, box.Namespace, "get", "log"); err != nil {
		return nil, err
	}
	pods, err := r.pods(ctx, box, asked)
	if err != nil {
		return nil, err
	}
	request := &boxlog.Request{
		Box: box, Options: asked, Pods: pods,
		Open:     openLog,
		CheckPod: func(ctx context.Context, pod string) error { return r.permissions.checkPod(ctx, "get", pod, "log") },
		Record: func(ctx context.Context, isLater bool, pods []string) {
			recordLogAccess(ctx, box, asked.Container, pods)
			if !isLater {
				annotateLogAccess(ctx, asked.Container, pods)
			}
		},
		WatchPods: func(ctx context.Context, changed func()) (func(context.Context) ([]corev1.Pod, error), error) {
			return r.children.WatchPods(ctx, box, changed)
		},
		PodUID:        r.children.PodUID,
		AwaitDeletion: func(ctx context.Context, gone, abandoned chan<- struct{}) { r.awaitDeletion(ctx, box, gone, abandoned) },
		UntilStop:     r.access.UntilStop,
	}
	if err := request.Validate(); err != nil {
		return nil, err
	}
	if err := r.access.CheckRoom(ctx, box.Namespace, request.Connections()-1); err != nil {
		return nil, err
	}
	return request, nil
}

// pods returns the pods of the box that are asked for: at least one, unless they are followed.
func (r *LogREST) pods(ctx context.Context, box *modelv1.ModelBox, asked *model.ModelBoxLogOptions) ([]corev1.Pod, error) {
	pods, err := modelbox.ReadCluster(ctx, func(ctx context.Context) ([]corev1.Pod, error) { return r.children.Pods(ctx, box) })
	if err != nil {
		return nil, err
	}
	if asked.Pod == "" && (len(pods) > 0 || asked.Follow) {
		return pods, nil
	}
	pod, err := modelbox.SelectPod(box, pods, asked.Pod)
	if err != nil {
		return nil, err
	}
	return []corev1.Pod{*pod}, nil
}

// recordLogAccess records which user reads the logs of which pods. The cluster only sees the server as the user.
func recordLogAccess(ctx context.Context, box *modelv1.ModelBox, container string, pods []string) {
	var user string
	if info, ok := genericapirequest.UserFrom(ctx); ok {
		user = info.GetName()
	}
	klog.FromContext(ctx).Info("Showing a user the logs of pods", "user", user, "modelbox", klog.KObj(box), "pods", pods,
		"container", container, "auditID", audit.GetAuditIDTruncated(ctx))
}

// annotateLogAccess adds to the audit event of a request whose logs it begins with. Of the pods that come while it lasts, there are
// lines of the log of the server, and events of the cluster with the same audit ID.
func annotateLogAccess(ctx context.Context, container string, pods []string) {
	named := strings.Join(pods[:min(len(pods), maxAuditedPods)], ",")
	if further := len(pods) - maxAuditedPods; further > 0 {
		named += fmt.Sprintf(" and %d more", further)
	}
	audit.AddAuditAnnotations(ctx, podAuditAnnotation, named, containerAuditAnnotation, container)
}

// awaitDeletion closes gone when the box has been deleted, and also closes abandoned if its pods continue without it.
func (r *LogREST) awaitDeletion(ctx context.Context, box *modelv1.ModelBox, gone, abandoned chan<- struct{}) {
	if !awaitDeletion(ctx, r.store, box.Name, box.UID) {
		return
	}
	close(gone)
	if orphaned, err := r.children.IsOrphaned(ctx, box); err == nil && orphaned {
		close(abandoned)
	}
}
