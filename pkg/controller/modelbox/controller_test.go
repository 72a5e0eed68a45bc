// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// The queue has a goroutine, and every lead of this process has a queue.
func TestALeadThatEndsBeforeItBeganLeavesNoQueue(t *testing.T) {
	f := newTestController(t, nil)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := f.run(ctx); err != nil {
		t.Error(err)
	}
	if !f.Queue.ShuttingDown() {
		t.Error("the queue still runs")
	}
}

// An overlay can say who manages the pods, as users of Helm do, but not which box they are of.
func TestPodsAreWatchedByTheLabelThatSelectsThem(t *testing.T) {
	managedBy := func(manager string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { pod.Labels[render.ManagedByLabel] = manager }
	}
	box := fixture.WebBox(t)
	f := newTestController(t, nil,
		newPod("web-a", managedBy(render.ManagedBy)),
		newPod("web-b", managedBy("Helm")),
		newPod("other", func(pod *corev1.Pod) { pod.Labels = map[string]string{render.ManagedByLabel: render.ManagedBy} }),
	)
	ctx, stop := context.WithCancel(t.Context())
	defer f.informers.Shutdown()
	defer stop()
	f.informers.Start(ctx)
	if !f.Caches.WaitForSync(ctx) {
		t.Fatal("the informers did not sync")
	}
	pods, err := kinds.PodsOf(f.pods, apply.KeyOf(box))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, pod := range pods {
		got = append(got, pod.Name)
	}
	if diff := cmp.Diff([]string{"web-a", "web-b"}, got); diff != "" {
		t.Errorf("the pods of the box, -want +got:\n%s", diff)
	}
	if got := len(f.pods.List()); got != 2 {
		t.Errorf("%d pods are kept, want the pods of boxes only", got)
	}
}

func TestChildrenOfNoBoxAreNotEnqueued(t *testing.T) {
	c := newTestController(t, nil).Controller
	defer c.Queue.ShutDown()
	handler := c.Queue.Handler(c.children.OwnerOf)
	service := fixture.LiveService(t)
	service.OwnerReferences = nil
	handler.OnAdd(service, false)
	handler.OnUpdate(service, service)
	handler.OnDelete(service)
	if c.Queue.Len() != 0 {
		t.Errorf("%d boxes are in the queue", c.Queue.Len())
	}
}
