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

// disk is what outlives a power cut. Its methods may be called at the same time.
type disk struct {
	mu     sync.Mutex
	random *rand.Rand
	root   *entry
	// changes of directories are not durable yet, in their order.
	changes []change
}

// entry is a file or a directory.
type entry struct {
	mode     uint32
	uid, gid uint32
	modified time.Time
	// content is that of a file.
	content content
	// entries are those of a directory that are on the disk.
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

// link gives an entry a name in a directory.
func (d *disk) link(directory *entry, name string, linked *entry) {
	d.changes = append(d.changes, change{[]*entry{directory}, func() { directory.entries[name] = linked }})
}

// unlink takes the entry of a name out of a directory.
func (d *disk) unlink(directory *entry, name string) {
	d.changes = append(d.changes, change{[]*entry{directory}, func() { delete(directory.entries, name) }})
}

// rename is both at once.
func (d *disk) rename(from *entry, name string, to *entry, newName string, renamed *entry) {
	d.changes = append(d.changes, change{[]*entry{from, to}, func() {
		delete(from.entries, name)
		to.entries[newName] = renamed
	}})
}

// sync makes the content of a file durable, or the entries of a directory. What was renamed from one directory to another
// reaches the disk with either of them, and with all that happened to them before.
func (d *disk) sync(synced *entry) {
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

// cut loses what is not durable. The first changes of directories, and parts of files, may have reached the disk nevertheless. Half of
// the time no change of a directory has: that is what a missing sync shows most often.
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
