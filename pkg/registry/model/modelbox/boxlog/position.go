// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package boxlog

import "time"

// rememberedLines is how many lines back a log that is read again is compared with what has been delivered of it.
const rememberedLines = 128

// position is how much of a log has been delivered. A log can be requested only from a full second on, and two lines can have the
// same time. The times of the last lines show which lines are repeated.
type position struct {
	// stamps are the times of the last lines that have been delivered, of which next is the oldest one once there are as many as
	// are remembered.
	stamps []int64
	next   int
	// newest is the time of the last line.
	newest int64
	// forgotten is how many lines before the oldest one have its time, and are not among stamps.
	forgotten int
	// partial is the time of a line of which partialBytes have been delivered, and not its end.
	partial      int64
	partialBytes int64
}

// add says that a whole line has been delivered.
func (p *position) add(stamp int64) {
	p.partial, p.partialBytes, p.newest = 0, 0, stamp
	if len(p.stamps) < rememberedLines {
		p.stamps = append(p.stamps, stamp)
		return
	}
	evicted := p.stamps[p.next]
	p.stamps[p.next] = stamp
	p.next = (p.next + 1) % rememberedLines
	if p.stamps[p.next] == evicted {
		p.forgotten++
	} else {
		p.forgotten = 0
	}
}

// addPart says that so many further bytes of the line have been delivered.
func (p *position) addPart(stamp int64, bytes int) {
	if p.partial != stamp {
		p.partialBytes = 0
	}
	p.partial = stamp
	p.partialBytes += int64(bytes)
}

// deliveredOf returns how many bytes of the line have been delivered.
func (p *position) deliveredOf(stamp int64) int64 {
	if p.partialBytes > 0 && p.partial == stamp {
		return p.partialBytes
	}
	return 0
}

// oldest returns the time of the oldest line that is remembered, false where nothing has been delivered.
func (p *position) oldest() (int64, bool) {
	if len(p.stamps) == 0 {
		return p.partial, p.partialBytes > 0
	}
	if len(p.stamps) < rememberedLines {
		return p.stamps[0], true
	}
	return p.stamps[p.next], true
}

// resumeAt returns the second from which the log has to be read again, false for its beginning.
func (p *position) resumeAt() (time.Time, bool) {
	stamp, ok := p.oldest()
	return time.Unix(0, stamp).Truncate(time.Second), ok
}

// repeats tells which lines at the beginning of a log that is read again have been delivered.
type repeats struct {
	oldest int64
	// left is how many of the lines that are remembered have yet to come again, by their times.
	left map[int64]int
}

func (p *position) repeats() *repeats {
	oldest, _ := p.oldest()
	r := &repeats{oldest: oldest, left: make(map[int64]int, len(p.stamps))}
	for _, stamp := range p.stamps {
		r.left[stamp]++
	}
	if p.forgotten > 0 {
		r.left[oldest] += p.forgotten
	}
	return r
}

// has returns whether the next line, which has that time, has been delivered.
func (r *repeats) has(stamp int64) bool {
	if stamp < r.oldest {
		return true
	}
	if r.left[stamp] == 0 {
		return false
	}
	r.left[stamp]--
	return true
}
