// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"net/url"
	"testing"

	eventsv1 "k8s.io/api/events/v1"
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
