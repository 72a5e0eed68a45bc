// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package informers

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

var errNotFound = apierrors.NewGenericServerResponse(404, "list", corev1.Resource("secrets"), "", "", 0, true)

// cluster serves Secrets, of which it has one, unless it answers with an error.
type cluster struct {
	answer  atomic.Pointer[error]
	lists   atomic.Int32
	watches chan *watch.RaceFreeFakeWatcher
}

func newCluster(answer error) *cluster {
	c := &cluster{watches: make(chan *watch.RaceFreeFakeWatcher, 10)}
	c.answer.Store(&answer)
	return c
}

func (c *cluster) answers(err error) { c.answer.Store(&err) }

func (c *cluster) listWatch() *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			c.lists.Add(1)
			if err := *c.answer.Load(); err != nil {
				return nil, err
			}
			secret := corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "token", Namespace: "default", ResourceVersion: "7"}}
			return &corev1.SecretList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}, Items: []corev1.Secret{secret}}, nil
		},
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
			if err := *c.answer.Load(); err != nil {
				return nil, err
			}
			watcher := watch.NewRaceFreeFake()
			c.watches <- watcher
			return watcher, nil
		},
	}
}

// startOptional starts an informer of the cluster's Secrets until the test ends.
func startOptional(t *testing.T, c *cluster) *Optional {
	t.Helper()
	informer, err := NewOptional(corev1.Resource("secrets"), c.listWatch(), &corev1.Secret{}, dropManagedFields)
	if err != nil {
		t.Fatal(err)
	}
	f, _, _ := newTestFactories()
	f.AddOptional(informer)
	f.startInTest(t)
	return informer
}

// expectServed waits and says what is wrong with an informer that has these objects in its cache.
func expectServed(t *testing.T, informer *Optional, isServed bool, objects int) {
	t.Helper()
	synctest.Wait()
	if !informer.HasSynced() {
		t.Error("the cache has not synced")
	}
	if got := informer.IsServed(); got != isServed {
		t.Errorf("it is served: got %v, want %v", got, isServed)
	}
	if got := len(informer.GetStore().List()); got != objects {
		t.Errorf("the cache has %d objects, want %d", got, objects)
	}
}

func TestOptionalInformerOfAKindThatIsServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(nil)
		informer := startOptional(t, c)
		expectServed(t, informer, true, 1)
		time.Sleep(time.Hour)
		if got := c.lists.Load(); got != 1 {
			t.Errorf("it was listed %d times, want once", got)
		}
	})
}

func TestOptionalInformerPicksUpAKindThatAppears(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(errNotFound)
		informer := startOptional(t, c)
		expectServed(t, informer, false, 0)
		c.lists.Store(0)
		time.Sleep(time.Hour)
		if got, want := c.lists.Load(), int32(time.Hour/servedCheckPeriod); got > want {
			t.Errorf("it was looked for %d times in an hour, want no more than %d", got, want)
		}
		c.answers(nil)
		time.Sleep(2 * servedCheckPeriod)
		expectServed(t, informer, true, 1)
	})
}

func TestOptionalInformerForgetsAKindThatDisappears(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(nil)
		informer := startOptional(t, c)
		expectServed(t, informer, true, 1)
		c.answers(errNotFound)
		(<-c.watches).Stop()
		time.Sleep(time.Minute)
		expectServed(t, informer, false, 0)
		c.answers(nil)
		time.Sleep(2 * servedCheckPeriod)
		expectServed(t, informer, true, 1)
	})
}

// A right that is missing is none of its matters: that is what cachehealth tells.
func TestOptionalInformerOfAKindThatMayNotBeListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(apierrors.NewForbidden(corev1.Resource("secrets"), "", errors.New("no")))
		informer := startOptional(t, c)
		synctest.Wait()
		if informer.HasSynced() || informer.IsServed() {
			t.Error("the cache has synced without the right to list the kind")
		}
	})
}
