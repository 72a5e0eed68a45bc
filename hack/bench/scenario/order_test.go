// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"errors"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

func named(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "shop", Name: name}
}

func TestOrder(t *testing.T) {
	o := newOrder(4)
	o.add(named("db"), 0, nil)
	o.add(named("cache"), 0, nil)
	o.add(named("api"), 0, []int{0, 1})
	o.add(named("web"), 0, []int{2})
	expectFree := func(after string, want ...int) {
		t.Helper()
		var got []int
		for len(o.free) > 0 {
			place, err := o.next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, place)
		}
		if !slices.Equal(got, want) {
			t.Errorf("after %s, %v may be created, want %v", after, got, want)
		}
	}
	expectFree("nothing", 0, 1)
	o.ready(named("cache"))
	expectFree("cache")
	o.ready(named("db"))
	expectFree("cache and db", 2)
	o.ready(named("api"))
	expectFree("api", 3)
	o.ready(named("web"))
	expectFree("all")
}

func TestOrderCountsFromFirst(t *testing.T) {
	o := newOrder(4)
	for first, stack := range []string{"one", "two"} {
		o.add(named(stack+"-db"), 2*first, nil)
		o.add(named(stack+"-web"), 2*first, []int{0})
	}
	for range 2 {
		<-o.free
	}
	o.ready(named("two-db"))
	if place, err := o.next(t.Context()); place != 3 || err != nil {
		t.Errorf("place %d may be created, %v; want the place of two-web", place, err)
	}
	if len(o.free) > 0 {
		t.Error("one-web may be created, although one-db is not ready")
	}
}

func TestOrderEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newOrder(0).next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}
