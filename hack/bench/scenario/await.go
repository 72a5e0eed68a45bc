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

// await watches the objects of some namespaces. It sends nil to the channel when the wanted number of them is ready, or an error.
// It calls became, which may be nil, with each object when it is ready for the first time. A server can end a watch at any time,
// for example if the client is too slow. The watch then begins again, with the existing objects first.
func await[T client.Object](
	ctx context.Context, begin watchFunc, namespaces []string, want int, isReady func(T) bool, became func(types.NamespacedName),
) (<-chan error, error) {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	watched, err := begin(ctx)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("watching %T: %w", *new(T), err)
	}
	awaited := &awaited[T]{namespaces, want, isReady, became, sets.New[types.NamespacedName]()}
	done := make(chan error, 1)
	go func() {
		defer cancel()
		done <- awaited.count(ctx, watched, begin)
	}()
	return done, nil
}

// awaited are objects that become ready.
type awaited[T client.Object] struct {
	namespaces []string
	want       int
	isReady    func(T) bool
	became     func(types.NamespacedName)
	ready      sets.Set[types.NamespacedName]
}

// count returns nil when as many as are wanted are ready.
func (a *awaited[T]) count(ctx context.Context, watched watch.Interface, begin watchFunc) error {
	for {
		err := a.countWhile(watched)
		watched.Stop()
		if err != nil || len(a.ready) >= a.want {
			return err
		}
		if watched, err = begin(ctx); err != nil {
			return fmt.Errorf("%d of %d are ready, watching %T again: %w", len(a.ready), a.want, *new(T), err)
		}
	}
}

// countWhile counts until as many as are wanted are ready, or the watch ends.
func (a *awaited[T]) countWhile(watched watch.Interface) error {
	for event := range watched.ResultChan() {
		object, known := event.Object.(T)
		if !known {
			return fmt.Errorf("watching %T: %s %v", object, event.Type, event.Object)
		}
		key := client.ObjectKeyFromObject(object)
		if !slices.Contains(a.namespaces, key.Namespace) || a.ready.Has(key) || !a.isReady(object) {
			continue
		}
		a.ready.Insert(key)
		if a.became != nil {
			a.became(key)
		}
		if len(a.ready) >= a.want {
			return nil
		}
	}
	return nil
}
