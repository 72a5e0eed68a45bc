// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package informers

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// servedCheckPeriod is how often the cluster is asked for a kind that it does not serve.
const servedCheckPeriod = 10 * time.Second

// Optional is an informer of a kind that the cluster may not serve, or not yet. Its cache is empty as long as that is so, and
// has synced.
type Optional struct {
	cache.SharedIndexInformer
	listWatch *optionalListWatch
}

// NewOptional returns an informer of the kind of the example, which is not started. It caches the results of transform.
func NewOptional(resource schema.GroupResource, listWatch *cache.ListWatch, example runtime.Object, transform cache.TransformFunc) (*Optional, error) {
	optional := &optionalListWatch{ListWatch: listWatch, resource: resource}
	informer := cache.NewSharedIndexInformerWithOptions(optional, example, cache.SharedIndexInformerOptions{
		Indexers:          cache.Indexers{},
		ObjectDescription: resource.String(),
	})
	if err := informer.SetTransform(transform); err != nil {
		return nil, fmt.Errorf("setting what the cache of %s keeps: %w", resource, err)
	}
	return &Optional{informer, optional}, nil
}

// IsServed returns whether the cluster serves the kind, as far as is known: false before the informer has synced.
func (o *Optional) IsServed() bool { return o.listWatch.isServed.Load() }

// optionalListWatch lists nothing of a kind that is not served, and watches that until it is.
type optionalListWatch struct {
	*cache.ListWatch
	resource schema.GroupResource
	isServed atomic.Bool
}

// IsWatchListSemanticsUnSupported makes the informer list: the answer says whether the kind is served.
func (l *optionalListWatch) IsWatchListSemanticsUnSupported() bool { return true }

// ListWithContext implements cache.ListerWithContext.
func (l *optionalListWatch) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	list, err := l.ListWatch.ListWithContext(ctx, options)
	switch {
	case err == nil:
		l.isServed.Store(true)
		return list, nil
	case apierrors.IsNotFound(err):
		l.isServed.Store(false)
		return &metav1.List{}, nil
	default:
		return nil, err
	}
}

// WatchWithContext implements cache.WatcherWithContext.
func (l *optionalListWatch) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	if l.isServed.Load() {
		return l.ListWatch.WatchWithContext(ctx, options)
	}
	return l.watchUnserved(ctx), nil
}

// watchUnserved returns a watch that has no event until the kind is served, and then the one that asks for another list.
func (l *optionalListWatch) watchUnserved(ctx context.Context) watch.Interface {
	ctx, stop := context.WithCancel(ctx)
	events := make(chan watch.Event, 1)
	go func() {
		defer close(events)
		err := wait.PollUntilContextCancel(ctx, servedCheckPeriod, false, func(ctx context.Context) (bool, error) {
			_, err := l.ListWatch.ListWithContext(ctx, metav1.ListOptions{Limit: 1})
			return err == nil, nil
		})
		if err == nil {
			expired := apierrors.NewResourceExpired("the cluster serves " + l.resource.String() + " now")
			events <- watch.Event{Type: watch.Error, Object: &expired.ErrStatus}
		}
	}()
	return &unservedWatch{events, stop}
}

// unservedWatch implements watch.Interface.
type unservedWatch struct {
	events chan watch.Event
	stop   context.CancelFunc
}

func (w *unservedWatch) ResultChan() <-chan watch.Event { return w.events }

func (w *unservedWatch) Stop() { w.stop() }
