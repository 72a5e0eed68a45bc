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
	// reserveBytes is the space that etcd needs for deletions on a full disk: two segments of its log, and pages of the database.
	reserveBytes = 4 * walSegmentBytes
	// MinFreeBytes is the free space besides the reserve below which the server refuses new and larger boxes. A write is stored
	// twice, in the log and in the database, and many writes run concurrently.
	MinFreeBytes = 64 << 20
	// enoughFreeBytes is the free space besides the reserve from which on the server accepts them again.
	enoughFreeBytes = MinFreeBytes + MinFreeBytes/4
	// releaseBytes is the free space below which the reserve is released.
	releaseBytes = 2 * walSegmentBytes
)

// reserve is a file that reserves disk space. It is removed if the disk is full otherwise: etcd ends the process if it cannot
// write, and users could then not delete anything either.
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

// adjust releases or takes the reserve, depending on the free space of the disk.
func (r *reserve) adjust(free int64) error {
	switch {
	case r.held && free < releaseBytes:
		return r.release()
	case !r.held && free >= reserveBytes+MinFreeBytes:
		return r.take()
	}
	return nil
}

// available returns the free space for boxes, without the space that the reserve has yet to take.
func (r *reserve) available(free int64) int64 {
	if r.held {
		return free
	}
	return max(free-reserveBytes, 0)
}

func (r *reserve) release() error {
	if err := os.Remove(r.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("releasing the reserve of disk space: %w", err)
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
