// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A list says of which moment it may be.
func TestListAtAVersion(t *testing.T) {
	t.Parallel()
	backend := newBackend(t)
	storage := backend.newStorage(t)
	before := create(t, storage, newBox()).ResourceVersion
	after := update(t, storage, withImage("nginx:2")).ResourceVersion
	started := backend.newStorage(t)

	for _, row := range []struct {
		name    string
		storage *Storage
		options metainternalversion.ListOptions
		image   string
		version string
	}{
		{"the present", storage, metainternalversion.ListOptions{}, "nginx:2", after},
		{"not older than the change", storage, metainternalversion.ListOptions{ResourceVersion: after, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}, "nginx:2", after},
		{"not older than the change, without saying so", storage, metainternalversion.ListOptions{ResourceVersion: after}, "nginx:2", after},
		{"not older than what came before", started, metainternalversion.ListOptions{ResourceVersion: before, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}, "nginx:2", after},
		{"any, of a server that was started since", started, metainternalversion.ListOptions{ResourceVersion: "0"}, "nginx:2", after},
		{"exactly the change", storage, metainternalversion.ListOptions{ResourceVersion: after, ResourceVersionMatch: metav1.ResourceVersionMatchExact}, "nginx:2", after},
		{"exactly what came before", storage, metainternalversion.ListOptions{ResourceVersion: before, ResourceVersionMatch: metav1.ResourceVersionMatchExact}, "nginx:1.7.9", before},
		{"exactly what came before, of a server that was started since", started, metainternalversion.ListOptions{ResourceVersion: before, ResourceVersionMatch: metav1.ResourceVersionMatchExact}, "nginx:1.7.9", before},
		{"a page of what came before", storage, metainternalversion.ListOptions{ResourceVersion: before, Limit: 1}, "nginx:1.7.9", before},
	} {
		t.Run(row.name, func(t *testing.T) {
			boxes := list(t, row.storage, &row.options)
			expectBoxes(t, boxes, "web "+row.image)
			if boxes.ResourceVersion != row.version {
				t.Errorf("the list is of version %s, want %s", boxes.ResourceVersion, row.version)
			}
		})
	}

	t.Run("any, which is the change before long", func(t *testing.T) {
		eventually(t, "the watch cache has the change", func() error {
			boxes := list(t, storage, &metainternalversion.ListOptions{ResourceVersion: "0"})
			if len(boxes.Items) != 1 || boxes.Items[0].ResourceVersion != after {
				return fmt.Errorf("it has %d boxes as of %s", len(boxes.Items), boxes.ResourceVersion)
			}
			return nil
		})
	})
	t.Run("one that etcd no longer remembers", func(t *testing.T) {
		backend.forget(t, storage)
		_, err := tryList(inDefault(t), started, &metainternalversion.ListOptions{ResourceVersion: before, ResourceVersionMatch: metav1.ResourceVersionMatchExact})
		if !apierrors.IsResourceExpired(err) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("one that is yet to come", func(t *testing.T) {
		_, err := tryList(inDefault(t), storage, &metainternalversion.ListOptions{ResourceVersion: after + "000"})
		if !apierrors.IsTimeout(err) || !apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("one that is none", func(t *testing.T) {
		if _, err := tryList(inDefault(t), storage, &metainternalversion.ListOptions{ResourceVersion: "new"}); !apierrors.IsBadRequest(err) && !apierrors.IsInvalid(err) {
			t.Errorf("got %v", err)
		}
	})
}
