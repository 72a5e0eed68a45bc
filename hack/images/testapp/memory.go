// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"sync"
)

// memory is what the application holds on to until it ends.
type memory struct {
	mu    sync.Mutex
	taken [][]byte
}

// take takes that much more memory, and writes to every page of it: pages without a write take no room.
func (m *memory) take(mebibytes int) {
	block := make([]byte, max(0, mebibytes)<<20)
	for page := 0; page < len(block); page += os.Getpagesize() {
		block[page] = 1
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.taken = append(m.taken, block)
}
