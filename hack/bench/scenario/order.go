// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// order tells which of several things may be created, each of which waits for others to be ready.
type order struct {
	mu sync.Mutex
	// index is the place of each thing, by its name.
	index map[types.NamespacedName]int
	// waitsFor is how many others each one still waits for, and dependents are those that wait for it.
	waitsFor   []int
	dependents [][]int
	// free are the objects that no longer wait. The channel has room for all of them.
	free chan int
}

// newOrder returns the order of at most so many things, of which there is none yet.
func newOrder(most int) *order {
	return &order{index: map[types.NamespacedName]int{}, free: make(chan int, most)}
}

// add adds something that depends on others: those at these places, counted from first. They have been added before.
func (o *order) add(name types.NamespacedName, first int, dependsOn []int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	place := len(o.waitsFor)
	o.index[name] = place
	o.waitsFor, o.dependents = append(o.waitsFor, len(dependsOn)), append(o.dependents, nil)
	for _, other := range dependsOn {
		o.dependents[first+other] = append(o.dependents[first+other], place)
	}
	if len(dependsOn) == 0 {
		o.free <- place
	}
}

// ready says that something is ready, once.
func (o *order) ready(name types.NamespacedName) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, dependent := range o.dependents[o.index[name]] {
		if o.waitsFor[dependent]--; o.waitsFor[dependent] == 0 {
			o.free <- dependent
		}
	}
}

// next returns the place of the next thing that may be created, as soon as there is one.
func (o *order) next(ctx context.Context) (int, error) {
	select {
	case place := <-o.free:
		return place, nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}
