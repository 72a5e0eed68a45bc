// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
)

func TestWhatIsUrgent(t *testing.T) {
	box := func(version string) *modelv1.ModelBox {
		return &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", ResourceVersion: version}}
	}
	for _, row := range []struct {
		name  string
		event func(cache.ResourceEventHandler)
		// first is the box that goes first: web, or another one that waits in the background.
		first string
	}{
		{"a box of the initial list is not", func(h cache.ResourceEventHandler) { h.OnAdd(box("1"), true) }, "other"},
		{"a new box is", func(h cache.ResourceEventHandler) { h.OnAdd(box("1"), false) }, "web"},
		{"a resync is not", func(h cache.ResourceEventHandler) { h.OnUpdate(box("1"), box("1")) }, "other"},
		{"a change is", func(h cache.ResourceEventHandler) { h.OnUpdate(box("1"), box("2")) }, "web"},
		{"a deletion is", func(h cache.ResourceEventHandler) { h.OnDelete(box("2")) }, "web"},
		{"a deletion that the watch missed is", func(h cache.ResourceEventHandler) {
			h.OnDelete(cache.DeletedFinalStateUnknown{Key: "default/web", Obj: box("1")})
		}, "web"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := newTestController(t, nil).Controller
			defer c.queue.ShutDown()
			c.queue.AddInBackground(keyNamed("other"))
			row.event(c.enqueueOwners(boxKey))
			if c.queue.Len() != 2 {
				t.Fatalf("%d boxes are in the queue", c.queue.Len())
			}
			if got := c.queue.next(t); got != row.first {
				t.Errorf("%s goes first", got)
			}
		})
	}
}

func TestObjectsOfNoBoxAreNotEnqueued(t *testing.T) {
	c := newTestController(t, nil).Controller
	defer c.queue.ShutDown()
	handler := c.enqueueOwners(c.children.OwnerOf)
	service := fixture.LiveService(t)
	service.OwnerReferences = nil
	handler.OnAdd(service, false)
	handler.OnUpdate(service, service)
	handler.OnDelete(cache.DeletedFinalStateUnknown{Key: "default/web"})
	if c.queue.Len() != 0 {
		t.Errorf("%d boxes are in the queue", c.queue.Len())
	}
}
