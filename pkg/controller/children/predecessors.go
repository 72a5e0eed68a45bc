// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package children

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
)

// predecessors remembers children that were deleted to be created again, until they are. The garbage collector needs a moment for a
// deletion that orphans dependents. The memory is lost with the process, and so are the fields that other managers had set.
type predecessors struct {
	mu       sync.Mutex
	children map[types.NamespacedName]map[childName]Object
}

func newPredecessors() *predecessors {
	return &predecessors{children: map[types.NamespacedName]map[childName]Object{}}
}

// remember takes note of the live child of a step, which is about to be deleted.
func (p *predecessors) remember(owner types.NamespacedName, s apply.Step) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.children[owner] == nil {
		p.children[owner] = map[childName]Object{}
	}
	p.children[owner][childName{s.Kind.Name(), s.Name()}] = s.Live
}

// find returns the child that was deleted to be created again, nil if there is none.
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
