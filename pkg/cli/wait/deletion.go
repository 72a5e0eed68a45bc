// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package wait

import (
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/cliutil"
)

// waitForDeletion returns nil when the object is gone, also where another one has its name by then, and an error when the context ends
// before.
func (w *waiter) waitForDeletion(ctx context.Context, patiently bool) error {
	if !patiently {
		return w.notDeleted()
	}
	isGone := func(object any) bool {
		found, ok := object.(metav1.Object)
		return !ok || found.GetUID() != w.object.GetUID()
	}
	_, err := watchtools.UntilWithSync(ctx, cliutil.NewListerWatcher(w.client, w.resource, w.object), w.object, func(store cache.Store) (bool, error) {
		return !slices.ContainsFunc(store.List(), func(object any) bool { return !isGone(object) }), nil
	}, func(event watch.Event) (bool, error) {
		switch {
		case event.Type == watch.Error:
			return false, fmt.Errorf("watching %s: %v", w.name, event.Object)
		case event.Type == watch.Deleted, isGone(event.Object):
			return true, nil
		}
		w.latest = event.Object
		w.show()
		return false, nil
	})
	switch {
	case err != nil && errors.Is(ctx.Err(), context.Canceled):
		return fmt.Errorf("interrupted while waiting for %s", w.name)
	case err != nil && ctx.Err() != nil:
		return w.notDeleted()
	}
	return err
}

func (w *waiter) notDeleted() error {
	return fmt.Errorf("timed out waiting for the deletion of %s", w.name)
}
