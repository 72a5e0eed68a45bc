// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// watchFunc begins to watch objects, of some namespaces at least.
type watchFunc func(ctx context.Context) (watch.Interface, error)

// await watches the objects of some namespaces. The channel gets nil as soon as so many of them are ready, or why that is not
// going to happen. Became, which may be nil, is told each of them right when it is ready for the first time.
func await[T client.Object](
	ctx context.Context, begin watchFunc, namespaces []string, want int, isReady func(T) bool, became func(types.NamespacedName),
) (<-chan error, error) {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	watched, err := begin(ctx)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("watching %T: %w", *new(T), err)
	}
	done := make(chan error, 1)
	go func() {
		defer cancel()
		defer watched.Stop()
		done <- countReady(watched, namespaces, want, isReady, became)
	}()
	return done, nil
}

func countReady[T client.Object](
	watched watch.Interface, namespaces []string, want int, isReady func(T) bool, became func(types.NamespacedName),
) error {
	ready := sets.New[types.NamespacedName]()
	for event := range watched.ResultChan() {
		object, known := event.Object.(T)
		if !known {
			return fmt.Errorf("watching %T: %s %v", object, event.Type, event.Object)
		}
		key := client.ObjectKeyFromObject(object)
		if !slices.Contains(namespaces, key.Namespace) || ready.Has(key) || !isReady(object) {
			continue
		}
		ready.Insert(key)
		if became != nil {
			became(key)
		}
		if len(ready) == want {
			return nil
		}
	}
	return fmt.Errorf("the watch ends when %d of %d are ready", len(ready), want)
}
