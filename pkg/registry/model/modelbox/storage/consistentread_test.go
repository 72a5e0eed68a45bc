// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

const readsAfterWrite = 50

// What one server has acknowledged every other shows at once, although it reads from its watch cache.
func TestListsAreConsistent(t *testing.T) {
	backend := newBackend(t)
	writer, reader := backend.newStorage(t), backend.newStorage(t)
	create(t, writer, newBox())
	before := listsServed(t)
	for i := range readsAfterWrite {
		image := fmt.Sprintf("nginx:%d", i)
		written := update(t, writer, withImage(image))
		boxes := list(t, reader, &metainternalversion.ListOptions{})
		expectBoxes(t, boxes, "web "+image)
		if boxes.ResourceVersion != written.ResourceVersion {
			t.Errorf("the list is of version %s, the box was written as %s", boxes.ResourceVersion, written.ResourceVersion)
		}
	}
	if diff := cmp.Diff(map[string]int{"watchcache": readsAfterWrite}, listsServedSince(t, before)); diff != "" {
		t.Errorf("where lists came from, -want +got:\n%s", diff)
	}
}

func TestGetsAreConsistent(t *testing.T) {
	t.Parallel()
	backend := newBackend(t)
	writer, reader := backend.newStorage(t), backend.newStorage(t)
	create(t, writer, newBox())
	for i := range readsAfterWrite {
		written := update(t, writer, withImage(fmt.Sprintf("nginx:%d", i)))
		for _, version := range []string{"", written.ResourceVersion} {
			got, err := reader.ModelBox.Get(inDefault(t), "web", &metav1.GetOptions{ResourceVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(written, got.(*model.ModelBox)); diff != "" {
				t.Fatalf("get at version %q, -written +read:\n%s", version, diff)
			}
		}
	}
}

// Lists by a field that has an index look at no other boxes, unless there are fewer others than not.
func TestListsUseTheIndexes(t *testing.T) {
	backend := newBackend(t)
	writer, reader := backend.newStorage(t), backend.newStorage(t)
	create(t, writer, newBox())
	create(t, writer, newBox(named("mail"), withImage("postfix:3")))
	for _, row := range []struct {
		field, value string
		from         string
		want         []string
	}{
		{"spec.image", "postfix:3", "watchcache/f:spec.image", []string{"mail postfix:3"}},
		{"status.ready", "false", "watchcache/f:status.ready", []string{"mail postfix:3", "web nginx:1.7.9"}},
		{"status.ready", "true", "watchcache", nil},
		{"spec.serviceType", "ClusterIP", "watchcache", []string{"mail postfix:3", "web nginx:1.7.9"}},
	} {
		t.Run(row.field+"="+row.value, func(t *testing.T) {
			before := listsServed(t)
			expectBoxes(t, list(t, reader, &metainternalversion.ListOptions{FieldSelector: fields.OneTermEqualSelector(row.field, row.value)}), row.want...)
			if diff := cmp.Diff(map[string]int{row.from: 1}, listsServedSince(t, before)); diff != "" {
				t.Errorf("where the list came from, -want +got:\n%s", diff)
			}
		})
	}

	// An index follows what it is of.
	setReady(t, writer, metav1.ConditionTrue)
	notReady := &metainternalversion.ListOptions{FieldSelector: fields.OneTermEqualSelector("status.ready", "false")}
	expectBoxes(t, list(t, reader, notReady), "mail postfix:3")
	ready := &metainternalversion.ListOptions{FieldSelector: fields.OneTermEqualSelector("status.ready", "true")}
	expectBoxes(t, list(t, reader, ready), "web nginx:1.7.9")
}
