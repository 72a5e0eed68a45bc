// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
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

// A version is a number of the server's. Anything else is the user's mistake, at the field where it was made.
func TestUpdatesWithAVersionThatIsNone(t *testing.T) {
	t.Parallel()
	storage := newStorage(t)
	create(t, storage, newBox())
	for name, store := range map[string]rest.Updater{"the box": storage.ModelBox, "its status": storage.Status} {
		for _, version := range []string{"abc", "-1", "1.5", "18446744073709551616"} {
			t.Run(name+" with "+version, func(t *testing.T) {
				_, _, err := store.Update(inDefault(t), "web", changed(func(box *model.ModelBox) {
					box.ResourceVersion = version
					box.Spec.Image, box.Status.Replicas = "nginx:2", 7
				}), rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{})
				if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "metadata.resourceVersion: Invalid value: \""+version+"\"") {
					t.Errorf("got %v", err)
				}
			})
		}
	}
	if got := get(t, storage); got.Spec.Image != "nginx:1.7.9" || got.Status.Replicas != 0 {
		t.Errorf("the box has the image %s and %d replicas", got.Spec.Image, got.Status.Replicas)
	}
}
