// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package powerloss

import (
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// disk has the data that survives a power cut. It is safe for concurrent use.
type disk struct {
	mu     sync.Mutex
	random *rand.Rand
	root   *entry
	// changes has the changes of directories that are not durable yet, in their order.
	changes []change
	// syncs is the number of syncs, and hold makes some of them wait.
	syncs int
	hold  hold
}

// entry is a file or a directory.
type entry struct {
	mode     uint32
	uid, gid uint32
	modified time.Time
	// content is the content of a file.
	content content
	// entries are the durable entries of a directory.
	entries map[string]*entry
}

// change is a change of the entries of one directory or two.
type change struct {
	directories []*entry
	apply       func()
}

func newDisk(seed uint64) *disk {
	return &disk{random: rand.New(rand.NewPCG(seed, 0)), root: &entry{mode: directoryMode | 0o700, entries: map[string]*entry{}}}
}

// link adds an entry to a directory under a name.
func (d *disk) link(directory *entry, name string, linked *entry) {
	d.changes = append(d.changes, change{[]*entry{directory}, func() { directory.entries[name] = linked }})
}

// unlink removes the entry with a name from a directory.
func (d *disk) unlink(directory *entry, name string) {
	d.changes = append(d.changes, change{[]*entry{directory}, func() { delete(directory.entries, name) }})
}

// rename unlinks and links an entry atomically.
func (d *disk) rename(from *entry, name string, to *entry, newName string, renamed *entry) {
	d.changes = append(d.changes, change{[]*entry{from, to}, func() {
		delete(from.entries, name)
		to.entries[newName] = renamed
	}})
}

// sync makes the content of a file, or the entries of a directory, durable. A rename between two directories becomes durable with
// either of them, together with all earlier changes of both.
func (d *disk) sync(synced *entry) {
	d.syncs++
	if synced.entries == nil {
		synced.content.sync()
		return
	}
	directories := []*entry{synced}
	isOfThem := func(directory *entry) bool { return slices.Contains(directories, directory) }
	for known := 0; known < len(directories); {
		known = len(directories)
		for _, change := range d.changes {
			if slices.ContainsFunc(change.directories, isOfThem) {
				for _, directory := range change.directories {
					if !isOfThem(directory) {
						directories = append(directories, directory)
					}
				}
			}
		}
	}
	d.changes = slices.DeleteFunc(d.changes, func(change change) bool {
		if !slices.ContainsFunc(change.directories, isOfThem) {
			return false
		}
		change.apply()
		return true
	})
}

// cut loses changes that are not durable. The first changes of directories, and parts of files, may have reached the disk. In half
// of the cuts, no change of a directory has, because that is the most frequent effect of a missing sync.
func (d *disk) cut() {
	if d.random.IntN(2) == 0 {
		for _, change := range d.changes[:d.random.IntN(len(d.changes)+1)] {
			change.apply()
		}
	}
	d.changes = nil
	d.root.cut(d.random)
}

func (e *entry) cut(random *rand.Rand) {
	e.content.cut(random)
	for _, name := range slices.Sorted(maps.Keys(e.entries)) {
		e.entries[name].cut(random)
	}
}
