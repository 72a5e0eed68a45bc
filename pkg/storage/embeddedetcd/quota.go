// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package embeddedetcd

import (
	"fmt"
	"path/filepath"
)

const (
	// maxQuotaBytes is the largest size of the database that etcd recommends.
	maxQuotaBytes = 8 << 30
	// MinQuotaBytes is the smallest quota in bytes: a few boxes of the largest size, and space to delete them.
	MinQuotaBytes = 16 << 20
	// minHeadroomBytes is the smallest headroom: half of the smallest quota.
	minHeadroomBytes = 8 << 20
	// walBytes is the size of the write-ahead log on the disk, including writes until the next purge.
	walBytes = 12 * walSegmentBytes
)

// deriveQuota returns the largest quota that fits on the disk of dir. The disk must have space for two copies of the database,
// because a defragmentation copies it, for the log, and for the space that is kept free. If the disk is too small for
// MinQuotaBytes, deriveQuota returns MinQuotaBytes: the server refuses boxes if the disk is full.
func deriveQuota(dir string) (int64, error) {
	free, err := FreeBytes(dir)
	if err != nil {
		return 0, err
	}
	used, err := usedBytes(filepath.Join(dir, "etcd"))
	if err != nil {
		return 0, err
	}
	reserved, err := usedBytes(reservePath(dir))
	if err != nil {
		return 0, err
	}
	return quotaFor(free + used + reserved), nil
}

func quotaFor(room int64) int64 {
	return min(max((room-walBytes-reserveBytes-MinFreeBytes)/2, MinQuotaBytes), maxQuotaBytes)
}

// headroom returns the part of the quota that boxes may not fill. It is for deletions that write first, for statuses, for history
// that is not compacted yet, and for free pages, which etcd counts as data until the database is defragmented. A compaction also
// writes before it frees pages: it copies a thousand revisions at a time, which may be all of a small database.
func headroom(quota int64) int64 { return max(quota/4, minHeadroomBytes) }

// Quantity formats bytes for messages, in the units of Kubernetes quantities, such as 2Gi.
func Quantity(bytes int64) string {
	for _, unit := range []struct {
		name  string
		bytes int64
	}{{"Gi", 1 << 30}, {"Mi", 1 << 20}, {"Ki", 1 << 10}} {
		if bytes >= unit.bytes {
			return fmt.Sprintf("%.1f%s", float64(bytes)/float64(unit.bytes), unit.name)
		}
	}
	return fmt.Sprint(bytes)
}
