// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package children

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// predecessors remembers children that were deleted to be created anew, until that is done: a deletion that leaves
// dependents alone takes the garbage collector a moment. It is lost with the process, and with it what others had set.
type predecessors struct {
	mu       sync.Mutex
	children map[types.NamespacedName]map[childName]Object
}

func newPredecessors() *predecessors {
	return &predecessors{children: map[types.NamespacedName]map[childName]Object{}}
}

// remember takes note of the live child of a step, which is about to be deleted.
func (p *predecessors) remember(owner types.NamespacedName, s Step) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.children[owner] == nil {
		p.children[owner] = map[childName]Object{}
	}
	p.children[owner][childName{s.Kind.name(), s.Name()}] = s.live
}

// find returns the child that was in this place, nil where it was not deleted to be created anew.
func (p *predecessors) find(owner types.NamespacedName, child childName) Object {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.children[owner][child]
}

// replaced drops what was remembered: there is another child now.
func (p *predecessors) replaced(owner types.NamespacedName, child childName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.children[owner], child)
	if len(p.children[owner]) == 0 {
		delete(p.children, owner)
	}
}

// forget drops what was remembered of the children of an owner that is gone.
func (p *predecessors) forget(owner types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.children, owner)
}
