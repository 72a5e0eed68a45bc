// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"fmt"
	"testing"
	"time"

	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// startWatch watches boxes of the default namespace until the test ends, or it is stopped.
func startWatch(t *testing.T, storage *Storage, options *metainternalversion.ListOptions) watch.Interface {
	t.Helper()
	return startWatchAs(inDefault(t), t, storage, options)
}

func startWatchAs(ctx context.Context, t *testing.T, storage *Storage, options *metainternalversion.ListOptions) watch.Interface {
	t.Helper()
	watcher, err := storage.ModelBox.Watch(ctx, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(watcher.Stop)
	return watcher
}

// nextEvent waits for the next event.
func nextEvent(t *testing.T, watcher watch.Interface) watch.Event {
	t.Helper()
	select {
	case event, isOpen := <-watcher.ResultChan():
		if !isOpen {
			t.Fatal("the watch ended")
		}
		// What several watches see is encoded once for all of them.
		if shared, isShared := event.Object.(runtime.CacheableObject); isShared {
			event.Object = shared.GetObject()
		}
		return event
	case <-time.After(patience):
		t.Fatalf("no event in %s", patience)
	}
	panic("unreachable")
}

// expectEvent checks that the next event is of that type, and is of the box as it was written.
func expectEvent(t *testing.T, watcher watch.Interface, want watch.EventType, written *model.ModelBox) {
	t.Helper()
	event := nextEvent(t, watcher)
	box, isBox := event.Object.(*model.ModelBox)
	if !isBox {
		t.Fatalf("got %s of %v, want %s of box %s", event.Type, event.Object, want, written.Name)
	}
	got := fmt.Sprintf("%s %s at %s", event.Type, describe(box), box.ResourceVersion)
	if want := fmt.Sprintf("%s %s at %s", want, describe(written), written.ResourceVersion); got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
}

// expectExpired checks that the watch says its version is gone, and ends.
func expectExpired(t *testing.T, watcher watch.Interface) {
	t.Helper()
	event := nextEvent(t, watcher)
	status, isStatus := event.Object.(*metav1.Status)
	if event.Type != watch.Error || !isStatus || status.Code != 410 || status.Reason != metav1.StatusReasonExpired {
		t.Fatalf("got %s of %v", event.Type, event.Object)
	}
	if event, isOpen := <-watcher.ResultChan(); isOpen {
		t.Errorf("it continued with %v", event)
	}
}
