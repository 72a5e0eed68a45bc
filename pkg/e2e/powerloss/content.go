// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package powerloss

import "math/rand/v2"

// sectorBytes is the number of bytes that a disk writes atomically.
const sectorBytes = 512

// content is the content of a file.
type content struct {
	// live has the bytes that programs read.
	live []byte
	// durable has the bytes on the disk, and pending the writes that are not on the disk yet.
	durable []byte
	pending []write
}

// write writes data at an offset, or truncates the file there.
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

// sync makes all writes durable.
func (c *content) sync() {
	for _, w := range c.pending {
		c.durable = w.apply(c.durable)
	}
	c.pending = nil
}

// cut loses the pending writes. The first of them may have reached the disk, as well as some sectors of the following ones.
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

// sectors returns the parts of a write that reach the disk independently.
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

// resize returns the bytes with another length, padded with zeros.
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
