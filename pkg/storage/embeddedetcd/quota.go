// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package embeddedetcd

import (
	"fmt"
	"path/filepath"
)

const (
	// maxQuotaBytes is the largest database that etcd recommends.
	maxQuotaBytes = 8 << 30
	// MinQuotaBytes is the smallest quota: a few boxes of the largest size, and room to delete them.
	MinQuotaBytes = 16 << 20
	// minHeadroomBytes is the smallest headroom: half of the smallest quota.
	minHeadroomBytes = 8 << 20
	// walBytes is what the write-ahead log takes on the disk, with what is written until it is next purged.
	walBytes = 12 * walSegmentBytes
)

// deriveQuota returns the largest quota for which the disk of dir has room: twice, for a database is defragmented by
// copying it, beside the log and the space that is kept free. A disk that is too small for the smallest quota gets it
// all the same: the database grows only while there is room.
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

// headroom is how much of the quota boxes may not fill. It is for deletions that have to write first, for statuses, for
// history that is not compacted yet, and for free pages, which etcd takes for data as long as the database has not been
// defragmented. A compaction writes what stays beside what goes once more before it frees anything: a thousand
// revisions at a time, which may be all of a small database.
func headroom(quota int64) int64 { return max(quota/4, minHeadroomBytes) }

// Quantity renders bytes for people, in the units of Kubernetes' quantities.
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
