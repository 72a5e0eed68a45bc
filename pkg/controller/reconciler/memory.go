// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// Forgetter remembers something of each object, and can forget it.
type Forgetter interface {
	// Forget drops what is remembered of an object.
	Forget(key types.NamespacedName)
}

// Memory remembers a value of each object. It is lost with the process. It may be used by several goroutines, of which the queue
// lets only one work on an object.
type Memory[V any] struct {
	mu     sync.RWMutex
	values map[types.NamespacedName]V
}

// NewMemory returns a Memory that remembers nothing.
func NewMemory[V any]() *Memory[V] {
	return &Memory[V]{values: map[types.NamespacedName]V{}}
}

// Get returns the value of the object, and whether there is one.
func (m *Memory[V]) Get(key types.NamespacedName) (V, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	value, isKnown := m.values[key]
	return value, isKnown
}

// Set remembers the value of the object in place of another.
func (m *Memory[V]) Set(key types.NamespacedName, value V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values[key] = value
}

// Forget implements Forgetter.
func (m *Memory[V]) Forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.values, key)
}
