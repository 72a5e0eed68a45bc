// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package powerloss

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/sets"
)

// seeds is a number of seeds for which every possible result occurs.
const seeds = 100

var (
	before = strings.Repeat("before\n", 300)
	after  = strings.Repeat("after.\n", 300)
)

// running has the state of the file system for programs since the disk was mounted.
type running struct {
	*disk
	// files has the files for programs by path, and directories the existing directories.
	files       map[string]*entry
	directories map[string]*entry
}

func newRunning(seed uint64) *running {
	r := &running{disk: newDisk(seed), files: map[string]*entry{}, directories: map[string]*entry{}}
	r.directories[""] = r.root
	return r
}

// in returns the directory of a path, and the name in it.
func (r *running) in(path string) (*entry, string) {
	directory, name, isBelow := strings.Cut(path, "/")
	if !isBelow {
		return r.root, path
	}
	return r.directories[directory], name
}

func (r *running) mkdir(name string) {
	r.directories[name] = &entry{entries: map[string]*entry{}}
	r.link(r.root, name, r.directories[name])
}

func (r *running) write(path, content string) {
	if r.files[path] == nil {
		r.files[path] = &entry{}
		directory, name := r.in(path)
		r.link(directory, name, r.files[path])
	}
	r.files[path].content.write([]byte(content), 0)
}

func (r *running) fsync(path string) {
	if directory := r.directories[path]; directory != nil {
		r.sync(directory)
		return
	}
	r.sync(r.files[path])
}

func (r *running) move(from, to string) {
	directory, name := r.in(from)
	newDirectory, newName := r.in(to)
	r.rename(directory, name, newDirectory, newName, r.files[from])
	r.files[to] = r.files[from]
	delete(r.files, from)
}

func (r *running) remove(path string) {
	directory, name := r.in(path)
	r.unlink(directory, name)
	delete(r.files, path)
}

// save writes a file that survives all cuts.
func (r *running) save(path, content string) {
	r.write(path, content)
	r.fsync(path)
	r.fsync("")
}

// left returns a description of the contents of a directory.
func left(in string, directory *entry) []string {
	var files []string
	for _, name := range slices.Sorted(maps.Keys(directory.entries)) {
		if entry := directory.entries[name]; entry.entries != nil {
			files = append(files, left(in+name+"/", entry)...)
		} else {
			files = append(files, in+name+" is "+describe(string(entry.content.live)))
		}
	}
	return files
}

func describe(content string) string {
	switch content {
	case before:
		return "before"
	case after:
		return "after"
	case "":
		return "empty"
	default:
		return "torn"
	}
}

func TestCutLosesWhatIsNotSynced(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(r *running)
		// left has the states after cuts. Each of them must occur.
		left []string
	}{
		{"a file that was synced in a directory that was synced", func(r *running) { r.save("a", before) }, []string{"a is before"}},
		{"a file that was not synced", func(r *running) {
			r.write("a", before)
			r.fsync("")
		}, []string{"a is empty", "a is torn", "a is before"}},
		{"a file in a directory that was not synced", func(r *running) {
			r.write("a", before)
			r.fsync("a")
		}, []string{"", "a is before"}},
		{"a file that was written once more and synced", func(r *running) {
			r.save("a", before)
			r.write("a", after)
			r.fsync("a")
		}, []string{"a is after"}},
		{"a file that was written once more and not synced", func(r *running) {
			r.save("a", before)
			r.write("a", after)
		}, []string{"a is after", "a is before", "a is torn"}},
		{"a file that was removed, and the directory synced", func(r *running) {
			r.save("a", before)
			r.remove("a")
			r.fsync("")
		}, []string{""}},
		{"a file that was removed, and the directory not synced", func(r *running) {
			r.save("a", before)
			r.remove("a")
		}, []string{"", "a is before"}},
		{"a file that was replaced, and all synced", func(r *running) {
			r.save("a", before)
			r.write("b", after)
			r.fsync("b")
			r.move("b", "a")
			r.fsync("")
		}, []string{"a is after"}},
		{"a file that was replaced, and the new one not synced", func(r *running) {
			r.save("a", before)
			r.write("b", after)
			r.move("b", "a")
			r.fsync("")
		}, []string{"a is after", "a is empty", "a is torn"}},
		{"a file that was replaced, and the directory not synced", func(r *running) {
			r.save("a", before)
			r.write("b", after)
			r.fsync("b")
			r.move("b", "a")
		}, []string{"a is after", "a is before", "a is before, b is after"}},
		{"a file that was moved to another directory, and that synced", func(r *running) {
			r.save("a", before)
			r.mkdir("d")
			r.move("a", "d/a")
			r.fsync("d")
		}, []string{"d/a is before"}},
		{"a file that was moved to another directory, and none synced", func(r *running) {
			r.save("a", before)
			r.mkdir("d")
			r.move("a", "d/a")
		}, []string{"a is before", "d/a is before"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			states := sets.New[string]()
			for seed := range uint64(seeds) {
				r := newRunning(seed)
				test.do(r)
				r.cut()
				states.Insert(strings.Join(left("", r.root), ", "))
			}
			if want := sets.New(test.left...); !states.Equal(want) {
				t.Errorf("cuts left %q, want %q", sets.List(states), sets.List(want))
			}
		})
	}
}

func TestCutLeavesSectorsWhole(t *testing.T) {
	for seed := range uint64(seeds) {
		c := content{}
		c.write([]byte(before), 0)
		c.sync()
		const half = 2 * sectorBytes
		c.write([]byte(after)[:half], 0)
		c.write([]byte(after)[half:], half)
		c.cut(newDisk(seed).random)
		for at := 0; at < len(before); at += sectorBytes {
			end := min(at+sectorBytes, len(before))
			if sector := string(c.live[at:end]); sector != before[at:end] && sector != after[at:end] {
				t.Errorf("seed %d: the sector at %d is %q", seed, at, sector)
			}
		}
	}
}
