// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// A watch that breaks again and again while boxes are written, and that each time continues at another server from its last
// resource version, has every write once.
func TestAWatchResumesWhereItBrokeOff(t *testing.T) {
	t.Parallel()
	backend := newBackend(t)
	servers := []*Storage{backend.newStorage(t), backend.newStorage(t)}
	seen := create(t, servers[0], newBox()).ResourceVersion

	const writes = 100
	written := make(chan []string, 1)
	var writer sync.WaitGroup
	t.Cleanup(writer.Wait)
	writer.Go(func() {
		var versions []string
		for i := range writes {
			box, err := tryUpdate(inDefault(t), servers[0], "web", withImage(fmt.Sprintf("nginx:%d", i)))
			if err != nil {
				t.Error(err)
				break
			}
			versions = append(versions, box.ResourceVersion)
		}
		written <- versions
	})

	var got []string
	for round := 0; len(got) < writes; round++ {
		watcher := startWatch(t, servers[round%len(servers)], &metainternalversion.ListOptions{ResourceVersion: seen})
		for count := 0; count <= round%7 && len(got) < writes; count++ {
			event := nextEvent(t, watcher)
			box, isBox := event.Object.(*model.ModelBox)
			if event.Type != watch.Modified || !isBox {
				t.Fatalf("got %s of %v", event.Type, event.Object)
			}
			seen = box.ResourceVersion
			got = append(got, seen)
		}
		watcher.Stop()
	}
	if diff := cmp.Diff(<-written, got); diff != "" {
		t.Errorf("versions, -written +watched:\n%s", diff)
	}
}

// A list and a watch from its version together miss nothing.
func TestAWatchGoesOnFromAList(t *testing.T) {
	t.Parallel()
	storage := newStorage(t)
	create(t, storage, newBox())
	listed := list(t, storage, &metainternalversion.ListOptions{})
	changed := update(t, storage, withImage("nginx:2"))
	mail := create(t, storage, newBox(named("mail")))

	watcher := startWatch(t, storage, &metainternalversion.ListOptions{ResourceVersion: listed.ResourceVersion})
	expectEvent(t, watcher, watch.Modified, changed)
	expectEvent(t, watcher, watch.Added, mail)
}

// A client that was disconnected for too long gets an error, and must list again. A server remembers the changes since its start.
func TestAWatchFromLongAgoExpires(t *testing.T) {
	t.Parallel()
	backend := newBackend(t)
	storage := backend.newStorage(t)
	longAgo := create(t, storage, newBox()).ResourceVersion
	update(t, storage, withImage("nginx:2"))
	started := backend.newStorage(t)

	expectExpired(t, startWatch(t, started, &metainternalversion.ListOptions{ResourceVersion: longAgo}))
	now := list(t, started, &metainternalversion.ListOptions{}).ResourceVersion
	watcher := startWatch(t, started, &metainternalversion.ListOptions{ResourceVersion: now})
	expectEvent(t, watcher, watch.Modified, update(t, storage, withImage("nginx:3")))
}
