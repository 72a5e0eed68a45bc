// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"testing"

	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// To a watch with a selector a box that enters the selection is new, and one that leaves it is gone. It is gone as it
// was, at the version of what took it out.
func TestWatchesOfASelection(t *testing.T) {
	t.Parallel()
	storage := newStorage(t)
	for _, row := range []struct {
		name    string
		options metainternalversion.ListOptions
		enter   func(t *testing.T) *model.ModelBox
		within  func(t *testing.T) *model.ModelBox
		leave   func(t *testing.T) *model.ModelBox
	}{
		{
			"by image", metainternalversion.ListOptions{FieldSelector: fields.OneTermEqualSelector("spec.image", "nginx:2")},
			func(t *testing.T) *model.ModelBox { return update(t, storage, withImage("nginx:2")) },
			func(t *testing.T) *model.ModelBox { return update(t, storage, withTeam("mail")) },
			func(t *testing.T) *model.ModelBox { return update(t, storage, withImage("nginx:3")) },
		},
		{
			"by readiness", metainternalversion.ListOptions{FieldSelector: fields.OneTermEqualSelector("status.ready", "true")},
			func(t *testing.T) *model.ModelBox { return setReady(t, storage, metav1.ConditionTrue) },
			func(t *testing.T) *model.ModelBox { return update(t, storage, withTeam("mail")) },
			func(t *testing.T) *model.ModelBox { return setReady(t, storage, metav1.ConditionFalse) },
		},
		{
			"by label", metainternalversion.ListOptions{LabelSelector: labels.SelectorFromSet(labels.Set{"team": "mail"})},
			func(t *testing.T) *model.ModelBox { return update(t, storage, withTeam("mail")) },
			func(t *testing.T) *model.ModelBox { return update(t, storage, withImage("nginx:2")) },
			func(t *testing.T) *model.ModelBox { return update(t, storage, withTeam("shop")) },
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			before := create(t, storage, newBox())
			row.options.ResourceVersion = before.ResourceVersion
			watcher := startWatch(t, storage, &row.options)

			expectEvent(t, watcher, watch.Added, row.enter(t))
			within := row.within(t)
			expectEvent(t, watcher, watch.Modified, within)
			gone := within.DeepCopy()
			gone.ResourceVersion = row.leave(t).ResourceVersion
			expectEvent(t, watcher, watch.Deleted, gone)

			// What happens outside is not told.
			remove(t, storage, "web", &metav1.DeleteOptions{})
			create(t, storage, newBox())
			expectEvent(t, watcher, watch.Added, row.enter(t))
			remove(t, storage, "web", &metav1.DeleteOptions{})
		})
	}
}

func TestAWatchOfASelectionSeesDeletions(t *testing.T) {
	t.Parallel()
	storage := newStorage(t)
	web := create(t, storage, newBox())
	create(t, storage, newBox(named("mail"), withImage("postfix:3")))
	watcher := startWatch(t, storage, &metainternalversion.ListOptions{
		ResourceVersion: web.ResourceVersion, FieldSelector: fields.OneTermEqualSelector("spec.image", "nginx:1.7.9"),
	})
	remove(t, storage, "mail", &metav1.DeleteOptions{})
	remove(t, storage, "web", &metav1.DeleteOptions{})
	gone := web.DeepCopy()
	gone.ResourceVersion = list(t, storage, &metainternalversion.ListOptions{}).ResourceVersion
	expectEvent(t, watcher, watch.Deleted, gone)
}
