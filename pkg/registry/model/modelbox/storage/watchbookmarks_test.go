// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"testing"
	"time"

	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// nextBookmark waits for the next event and returns the metadata of what has to be a bookmark.
func nextBookmark(t *testing.T, watcher watch.Interface) *metav1.ObjectMeta {
	t.Helper()
	event := nextEvent(t, watcher)
	box, isBox := event.Object.(*model.ModelBox)
	if event.Type != watch.Bookmark || !isBox {
		t.Fatalf("got %s of %v", event.Type, event.Object)
	}
	return &box.ObjectMeta
}

// A watch without events gets a bookmark before its timeout. The next watch can resume from there, after the events that the
// selector leaves out.
func TestBookmarks(t *testing.T) {
	t.Parallel()
	storage := newStorage(t)
	from := create(t, storage, newBox()).ResourceVersion
	nothing := fields.OneTermEqualSelector("metadata.name", "none")
	// The endpoint does this with timeoutSeconds. The bookmark comes two seconds before the end.
	ctx, cancel := context.WithTimeout(inDefault(t), 4*time.Second)
	defer cancel()
	watcher := startWatchAs(ctx, t, storage, &metainternalversion.ListOptions{ResourceVersion: from, AllowWatchBookmarks: true, FieldSelector: nothing})
	changed := update(t, storage, withImage("nginx:2"))
	if bookmark := nextBookmark(t, watcher); bookmark.ResourceVersion != changed.ResourceVersion {
		t.Errorf("the bookmark is of version %s, the last change was %s", bookmark.ResourceVersion, changed.ResourceVersion)
	}
}

// With sendInitialEvents a watch begins with all existing boxes, then sends a bookmark that says so, and continues with new events.
func TestAWatchThatBeginsWithAList(t *testing.T) {
	t.Parallel()
	backend := newBackend(t)
	writer, reader := backend.newStorage(t), backend.newStorage(t)
	mail := create(t, writer, newBox(named("mail")))
	create(t, writer, newBox())
	create(t, writer, newBox(named("stale")))
	remove(t, writer, "stale", &metav1.DeleteOptions{})
	web := update(t, writer, withImage("nginx:2"))

	for _, row := range []struct{ name, version string }{
		{"the present", ""},
		{"not older than the last change", web.ResourceVersion},
	} {
		t.Run(row.name, func(t *testing.T) {
			watcher := startWatch(t, reader, &metainternalversion.ListOptions{
				SendInitialEvents: ptr.To(true), AllowWatchBookmarks: true,
				ResourceVersion: row.version, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
			})
			expectEvent(t, watcher, watch.Added, mail)
			expectEvent(t, watcher, watch.Added, web)
			bookmark := nextBookmark(t, watcher)
			if bookmark.Annotations[metav1.InitialEventsAnnotationKey] != "true" || bookmark.ResourceVersion != web.ResourceVersion {
				t.Errorf("the bookmark is of version %s, want %s, and has the annotations %v", bookmark.ResourceVersion, web.ResourceVersion, bookmark.Annotations)
			}
			web = update(t, writer, withImage("nginx:"+web.ResourceVersion))
			expectEvent(t, watcher, watch.Modified, web)
		})
	}
}

// Without a single box the watch sends the bookmark at the end of the list as well.
func TestAWatchThatBeginsWithAnEmptyList(t *testing.T) {
	t.Parallel()
	storage := newStorage(t)
	watcher := startWatch(t, storage, &metainternalversion.ListOptions{
		SendInitialEvents: ptr.To(true), AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
	})
	if bookmark := nextBookmark(t, watcher); bookmark.Annotations[metav1.InitialEventsAnnotationKey] != "true" {
		t.Errorf("got the annotations %v", bookmark.Annotations)
	}
	expectEvent(t, watcher, watch.Added, create(t, storage, newBox()))
}
