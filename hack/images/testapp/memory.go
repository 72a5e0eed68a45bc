// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"sync"
)

// memory is the memory that the application keeps until it ends.
type memory struct {
	mu    sync.Mutex
	taken [][]byte
}

// take allocates further memory, and writes to every page of it, because pages without a write use no memory.
func (m *memory) take(mebibytes int) {
	block := make([]byte, max(0, mebibytes)<<20)
	for page := 0; page < len(block); page += os.Getpagesize() {
		block[page] = 1
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.taken = append(m.taken, block)
}
