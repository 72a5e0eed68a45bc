// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"net/url"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/leaderelection"
)

func TestEventsThatTheFenceRefusesAreDropped(t *testing.T) {
	other := errors.New("connection refused")
	for _, row := range []struct {
		name         string
		answer, want error
	}{
		{"the fence refuses", &url.Error{Op: "Post", Err: leaderelection.ErrNotLeading}, nil},
		{"the cluster cannot be reached", &url.Error{Op: "Post", Err: other}, other},
	} {
		t.Run(row.name, func(t *testing.T) {
			cluster := fake.NewClientset()
			cluster.PrependReactor("*", "events", func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, nil, row.answer
			})
			sink := &fencedSink{&events.EventSinkImpl{Interface: cluster.EventsV1()}}
			event := &eventsv1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web.1"}}
			if _, err := sink.Create(t.Context(), event); !errors.Is(err, row.want) {
				t.Errorf("creating: got error %v, want %v", err, row.want)
			}
			if _, err := sink.Patch(t.Context(), event, []byte("{}")); !errors.Is(err, row.want) {
				t.Errorf("patching: got error %v, want %v", err, row.want)
			}
			if got := len(cluster.Actions()); got != 2 {
				t.Errorf("%d requests reached the cluster, want 2", got)
			}
		})
	}
}

// The broadcaster creates the event of a series again if it cannot patch the event because it is gone.
func TestEventsInANamespaceThatGoesAreDropped(t *testing.T) {
	terminating := apierrors.NewForbidden(eventsv1.Resource("events"), "web.1", errors.New("the namespace is being terminated"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	for _, row := range []struct {
		name    string
		answer  error
		dropped bool
	}{
		{"the namespace is being deleted", terminating, true},
		{"the namespace is not there", apierrors.NewNotFound(corev1.Resource("namespaces"), "default"), true},
		{"the kind is not served", apierrors.NewNotFound(eventsv1.Resource("events"), ""), false},
		{"a right is missing", apierrors.NewForbidden(eventsv1.Resource("events"), "web.1", errors.New("no")), false},
	} {
		t.Run(row.name, func(t *testing.T) {
			cluster := fake.NewClientset()
			cluster.PrependReactor("*", "events", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, row.answer })
			sink := &fencedSink{&events.EventSinkImpl{Interface: cluster.EventsV1()}}
			event := &eventsv1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web.1"}}
			if _, err := sink.Create(t.Context(), event); (err == nil) != row.dropped {
				t.Errorf("got error %v, want none: %t", err, row.dropped)
			}
		})
	}
}
