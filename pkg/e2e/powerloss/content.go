// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package powerloss

import "math/rand/v2"

// sectorBytes is what a disk writes as a whole or not at all.
const sectorBytes = 512

// content is what is in a file.
type content struct {
	// live is what programs read.
	live []byte
	// durable is what is on the disk, and pending what is not yet.
	durable []byte
	pending []write
}

// write puts data at an offset, or ends the file there.
type write struct {
	offset int64
	data   []byte
	isEnd  bool
}

func (c *content) write(data []byte, offset int64) {
	w := write{offset: offset, data: append([]byte(nil), data...)}
	c.live = w.apply(c.live)
	c.pending = append(c.pending, w)
}

func (c *content) truncate(size int64) {
	w := write{offset: size, isEnd: true}
	c.live = w.apply(c.live)
	c.pending = append(c.pending, w)
}

// sync makes durable what is read.
func (c *content) sync() {
	for _, w := range c.pending {
		c.durable = w.apply(c.durable)
	}
	c.pending = nil
}

// cut leaves what was durable. Of what was not, the first writes may have reached the disk as well, and some sectors of those that
// followed.
func (c *content) cut(random *rand.Rand) {
	whole := random.IntN(len(c.pending) + 1)
	for _, w := range c.pending[:whole] {
		c.durable = w.apply(c.durable)
	}
	for _, w := range c.pending[whole:] {
		if isLost := random.IntN(2) == 0; isLost || w.isEnd {
			break
		}
		for _, sector := range w.sectors() {
			if random.IntN(2) == 0 {
				c.durable = sector.apply(c.durable)
			}
		}
	}
	c.pending = nil
	c.live = append([]byte(nil), c.durable...)
}

func (w write) apply(to []byte) []byte {
	if w.isEnd {
		return resize(to, w.offset)
	}
	if end := w.offset + int64(len(w.data)); end > int64(len(to)) {
		to = resize(to, end)
	}
	copy(to[w.offset:], w.data)
	return to
}

// sectors are the parts of the write that reach the disk on their own.
func (w write) sectors() []write {
	var sectors []write
	offset, data := w.offset, w.data
	for len(data) > 0 {
		length := min(sectorBytes-offset%sectorBytes, int64(len(data)))
		sectors = append(sectors, write{offset: offset, data: data[:length]})
		offset, data = offset+length, data[length:]
	}
	return sectors
}

// resize returns the bytes with another length. What is added is zero.
func resize(bytes []byte, size int64) []byte {
	length := int64(len(bytes))
	if size <= length {
		return bytes[:size]
	}
	if size <= int64(cap(bytes)) {
		bytes = bytes[:size]
		clear(bytes[length:])
		return bytes
	}
	return append(bytes, make([]byte, size-length)...)
}
