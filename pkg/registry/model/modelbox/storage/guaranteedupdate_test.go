// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// An update that another write overtakes is done again, on what that write has left.
func TestAnUpdateThatIsOvertakenIsRepeated(t *testing.T) {
	t.Parallel()
	backend := newBackend(t)
	storage, other := backend.newStorage(t), backend.newStorage(t)
	create(t, storage, newBox())

	var seen []string
	updated := update(t, storage, func(box *model.ModelBox) {
		seen = append(seen, box.Spec.Image)
		if len(seen) == 1 {
			update(t, other, withImage("nginx:2"))
		}
		box.Spec.Replicas = ptr.To[int32](5)
	})
	if diff := cmp.Diff([]string{"nginx:1.7.9", "nginx:2"}, seen); diff != "" {
		t.Errorf("images that the update began with, -want +got:\n%s", diff)
	}
	if updated.Spec.Image != "nginx:2" || *updated.Spec.Replicas != 5 || updated.Generation != 3 {
		t.Errorf("got image %s, replicas %d, generation %d", updated.Spec.Image, *updated.Spec.Replicas, updated.Generation)
	}
}

// An update with the resource version that it has read is refused when another write overtakes it.
func TestAnUpdateOfAVersionIsNotRepeated(t *testing.T) {
	t.Parallel()
	backend := newBackend(t)
	storage, other := backend.newStorage(t), backend.newStorage(t)
	read := create(t, storage, newBox()).ResourceVersion

	_, err := tryUpdate(inDefault(t), storage, "web", func(box *model.ModelBox) {
		if box.ResourceVersion == read {
			update(t, other, withImage("nginx:2"))
		}
		box.ResourceVersion = read
		box.Spec.Replicas = ptr.To[int32](5)
	})
	if !apierrors.IsConflict(err) {
		t.Errorf("got %v", err)
	}
	if got := get(t, storage); got.Spec.Image != "nginx:2" || *got.Spec.Replicas != 2 {
		t.Errorf("got image %s, replicas %d", got.Spec.Image, *got.Spec.Replicas)
	}
}

const (
	concurrentWriters = 4
	writesOfEach      = 10
)

func TestNoConcurrentUpdateIsLost(t *testing.T) {
	t.Parallel()
	backend := newBackend(t)
	servers := []*Storage{backend.newStorage(t), backend.newStorage(t)}
	create(t, servers[0], newBox(func(box *model.ModelBox) { box.Annotations = map[string]string{"count": "0"} }))

	var writers sync.WaitGroup
	for writer := range concurrentWriters {
		writers.Go(func() {
			for range writesOfEach {
				if _, err := tryUpdate(inDefault(t), servers[writer%len(servers)], "web", increment); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	if got, want := get(t, servers[0]).Annotations["count"], strconv.Itoa(concurrentWriters*writesOfEach); got != want {
		t.Errorf("%s of %s updates are there", got, want)
	}
}

func increment(box *model.ModelBox) {
	count, err := strconv.Atoi(box.Annotations["count"])
	if err != nil {
		panic(err)
	}
	box.Annotations["count"] = strconv.Itoa(count + 1)
}

// An update that changes nothing writes nothing.
func TestAnUpdateThatChangesNothingIsNotWritten(t *testing.T) {
	t.Parallel()
	backend := newBackend(t)
	storage := backend.newStorage(t)
	created := create(t, storage, newBox())
	revision := backend.revision(t)

	updated := update(t, storage, func(*model.ModelBox) {})
	if diff := cmp.Diff(created, updated); diff != "" {
		t.Errorf("-created +updated:\n%s", diff)
	}
	if got := backend.revision(t); got != revision {
		t.Errorf("etcd went from revision %d to %d", revision, got)
	}
	update(t, storage, withImage("nginx:2"))
	if got := backend.revision(t); got != revision+1 {
		t.Errorf("after a change etcd is at revision %d, want %d", got, revision+1)
	}
}

// revision returns how many writes etcd has seen.
func (b *backend) revision(t *testing.T) int64 {
	t.Helper()
	response, err := b.Etcd.Get(t.Context(), "/")
	if err != nil {
		t.Fatal(err)
	}
	return response.Header.Revision
}
