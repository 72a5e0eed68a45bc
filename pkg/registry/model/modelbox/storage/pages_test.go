// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// createSeven stores box-0 to box-6.
func createSeven(t *testing.T, storage *Storage) {
	t.Helper()
	for i := range 7 {
		create(t, storage, newBox(named(fmt.Sprintf("box-%d", i))))
	}
}

// All pages show the boxes as they were when the first was read, whichever server is asked for the others.
func TestPagesAreOfOneMoment(t *testing.T) {
	t.Parallel()
	backend := newBackend(t)
	storage := backend.newStorage(t)
	createSeven(t, storage)

	first := list(t, storage, &metainternalversion.ListOptions{Limit: 3})
	expectBoxes(t, first, "box-0 nginx:1.7.9", "box-1 nginx:1.7.9", "box-2 nginx:1.7.9")
	if first.RemainingItemCount == nil || *first.RemainingItemCount != 4 {
		t.Errorf("remaining boxes: got %v, want 4", first.RemainingItemCount)
	}
	remove(t, storage, "box-3", &metav1.DeleteOptions{})
	create(t, storage, newBox(named("box-31")))
	if _, err := tryUpdate(inDefault(t), storage, "box-4", withImage("nginx:2")); err != nil {
		t.Fatal(err)
	}

	for name, storage := range map[string]*Storage{"the same server": storage, "a server that was started since": backend.newStorage(t)} {
		t.Run(name, func(t *testing.T) {
			second := list(t, storage, &metainternalversion.ListOptions{Limit: 3, Continue: first.Continue})
			expectBoxes(t, second, "box-3 nginx:1.7.9", "box-4 nginx:1.7.9", "box-5 nginx:1.7.9")
			third := list(t, storage, &metainternalversion.ListOptions{Limit: 3, Continue: second.Continue})
			expectBoxes(t, third, "box-6 nginx:1.7.9")
			if third.Continue != "" {
				t.Errorf("the last page continues with %s", third.Continue)
			}
			for _, page := range []*model.ModelBoxList{second, third} {
				if page.ResourceVersion != first.ResourceVersion {
					t.Errorf("a page is of version %s, the first was of %s", page.ResourceVersion, first.ResourceVersion)
				}
			}
			expectBoxes(t, list(t, storage, &metainternalversion.ListOptions{}), "box-0 nginx:1.7.9", "box-1 nginx:1.7.9", "box-2 nginx:1.7.9",
				"box-31 nginx:1.7.9", "box-4 nginx:2", "box-5 nginx:1.7.9", "box-6 nginx:1.7.9")
		})
	}
}

// A list at a revision that etcd has compacted has no more pages. The error holds a token that continues at the current revision.
func TestPagesExpire(t *testing.T) {
	t.Parallel()
	backend := newBackend(t)
	storage := backend.newStorage(t)
	createSeven(t, storage)
	first := list(t, storage, &metainternalversion.ListOptions{Limit: 5})
	if _, err := tryUpdate(inDefault(t), storage, "box-6", withImage("nginx:2")); err != nil {
		t.Fatal(err)
	}
	backend.forget(t, storage)

	started := backend.newStorage(t)
	_, err := tryList(inDefault(t), started, &metainternalversion.ListOptions{Limit: 5, Continue: first.Continue})
	if !apierrors.IsResourceExpired(err) {
		t.Fatalf("got %v", err)
	}
	goOn := err.(apierrors.APIStatus).Status().Continue
	expectBoxes(t, list(t, started, &metainternalversion.ListOptions{Limit: 5, Continue: goOn}), "box-5 nginx:1.7.9", "box-6 nginx:2")
}

// forget lets etcd remember only the present.
func (b *backend) forget(t *testing.T, storage *Storage) {
	t.Helper()
	now, err := strconv.ParseInt(list(t, storage, &metainternalversion.ListOptions{}).ResourceVersion, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Etcd.Compact(t.Context(), now); err != nil {
		t.Fatal(err)
	}
}

func TestContinueTokensThatAreNone(t *testing.T) {
	t.Parallel()
	storage := newStorage(t)
	createSeven(t, storage)
	encode := func(token string) string { return base64.RawURLEncoding.EncodeToString([]byte(token)) }
	for _, row := range []struct {
		name    string
		options metainternalversion.ListOptions
	}{
		{"not base64", metainternalversion.ListOptions{Continue: "!"}},
		{"not JSON", metainternalversion.ListOptions{Continue: encode("box-2")}},
		{"an unknown version", metainternalversion.ListOptions{Continue: encode(`{"v":"meta.k8s.io/v2","rv":1,"start":"box-2"}`)}},
		{"no moment", metainternalversion.ListOptions{Continue: encode(`{"v":"meta.k8s.io/v1","start":"box-2"}`)}},
		{"no place", metainternalversion.ListOptions{Continue: encode(`{"v":"meta.k8s.io/v1","rv":1}`)}},
		{"a place in another namespace", metainternalversion.ListOptions{Continue: encode(`{"v":"meta.k8s.io/v1","rv":1,"start":"../other/box-2"}`)}},
		{"two moments", metainternalversion.ListOptions{Continue: encode(`{"v":"meta.k8s.io/v1","rv":1,"start":"box-2"}`), ResourceVersion: "1"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.options.Limit = 3
			if boxes, err := tryList(inDefault(t), storage, &row.options); !apierrors.IsBadRequest(err) {
				t.Errorf("got %v, %v", boxes, err)
			}
		})
	}
}
