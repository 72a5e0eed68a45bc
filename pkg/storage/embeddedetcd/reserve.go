// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package embeddedetcd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
)

const (
	// reserveBytes is what etcd needs to continue with deletions for a while on a disk that is full: two segments of its log, and
	// pages of the database.
	reserveBytes = 4 * walSegmentBytes
	// MinFreeBytes is the free space, beside the reserve, below which boxes may not grow. A write is stored twice, in the log
	// and in the database, and many of them are under way at a time.
	MinFreeBytes = 64 << 20
	// enoughFreeBytes is the free space, beside the reserve, from which on boxes may grow again.
	enoughFreeBytes = MinFreeBytes + MinFreeBytes/4
	// releaseBytes is the free space below which the reserve is given up.
	releaseBytes = 2 * walSegmentBytes
)

// reserve is a file that takes up disk space, and is removed when there is no other space left: etcd ends the process when it
// cannot write, and then users could not delete anything either.
type reserve struct {
	path string
	held bool
}

func reservePath(dir string) string { return filepath.Join(dir, "reserve") }

func newReserve(dir string) *reserve {
	r := &reserve{path: reservePath(dir)}
	info, err := os.Stat(r.path)
	r.held = err == nil && info.Size() == reserveBytes
	return r
}

// adjust gives the reserve up, or takes it again, as the free space of the disk asks for.
func (r *reserve) adjust(free int64) error {
	switch {
	case r.held && free < releaseBytes:
		return r.release()
	case !r.held && free >= reserveBytes+MinFreeBytes:
		return r.take()
	}
	return nil
}

// available is how much of the free space boxes may have: what the reserve takes, or is to take again, they may not.
func (r *reserve) available(free int64) int64 {
	if r.held {
		return free
	}
	return max(free-reserveBytes, 0)
}

func (r *reserve) release() error {
	if err := os.Remove(r.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("giving up the reserve of disk space: %w", err)
	}
	r.held = false
	return nil
}

func (r *reserve) take() error {
	file, err := os.OpenFile(r.path, os.O_CREATE|os.O_WRONLY, fileutil.PrivateFileMode)
	if err == nil {
		err = errors.Join(fileutil.Preallocate(file, reserveBytes, true), file.Close())
	}
	if err != nil {
		return errors.Join(fmt.Errorf("reserving disk space: %w", err), r.release())
	}
	r.held = true
	return nil
}
