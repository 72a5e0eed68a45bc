// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package embeddedetcd

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/etcdserver"
	"go.etcd.io/etcd/server/v3/storage/backend"
)

// Reason is the reason of a shortage of space.
type Reason string

const (
	// ReasonQuotaReached: boxes use all of the quota except for the headroom.
	ReasonQuotaReached Reason = "QuotaReached"
	// ReasonDiskFull: the disk of the data directory has too little free space.
	ReasonDiskFull Reason = "DiskFull"
)

// Shortage is the reason why the server refuses new and larger boxes. It accepts all other requests.
type Shortage struct {
	Reason Reason
	// Message has the used or free space, the limit, and the action for users.
	Message string
}

// space detects a shortage of space for boxes. A shortage ends only if the space exceeds the limit by a margin.
type space struct {
	dir     string
	quota   int64
	etcd    *etcdserver.EtcdServer
	backend backend.Backend

	mu        sync.Mutex
	reserve   *reserve
	quotaFull bool
	diskFull  bool
}

// newSpace returns the space of an etcd that is not started yet. It releases the reserve if the disk is so full that etcd may not
// start.
func newSpace(dir string, quota int64) (*space, error) {
	s := &space{dir: dir, quota: quota, reserve: newReserve(dir)}
	return s, s.refresh(context.Background())
}

// setEtcd sets the etcd after its start.
func (s *space) setEtcd(etcd *etcdserver.EtcdServer) {
	s.etcd, s.backend = etcd, etcd.Backend()
}

// forBoxes returns the part of the quota for boxes, in bytes.
func (s *space) forBoxes() int64 { return s.quota - headroom(s.quota) }

// nearQuota returns the size of the database at which etcd is about to refuse writes.
func (s *space) nearQuota() int64 { return s.quota - headroom(s.quota)/2 }

// isNearQuota returns whether etcd is about to refuse writes. Like etcd, it counts free pages as data.
func (s *space) isNearQuota() bool { return s.backend.Size() >= s.nearQuota() }

// isFragmented returns whether etcd is about to refuse writes only because of free pages.
func (s *space) isFragmented() bool {
	return s.isNearQuota() && s.backend.SizeInUse() < withMargin(s.nearQuota())
}

// withMargin returns the limit below which a shortage ends, after the given limit was reached.
func withMargin(limit int64) int64 { return limit - limit/16 }

// alarms returns the active alarms that make etcd refuse writes.
func (s *space) alarms() []*etcdserverpb.AlarmMember {
	return slices.DeleteFunc(s.etcd.Alarms(), func(alarm *etcdserverpb.AlarmMember) bool {
		return alarm.Alarm != etcdserverpb.AlarmType_NOSPACE
	})
}

// refresh releases or takes the reserve of disk space, and updates the metrics.
func (s *space) refresh(context.Context) error {
	free, err := FreeBytes(s.dir)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.reserve.adjust(free); err != nil {
		return err
	}
	diskFreeBytes.Set(float64(free))
	quotaBytes.Set(float64(s.forBoxes()))
	if s.backend != nil {
		inUseBytes.Set(float64(s.backend.SizeInUse()))
	}
	return nil
}

// shortage returns the present shortage, nil if there is none. It reads the free space now, and does not use the last refresh.
func (s *space) shortage() *Shortage {
	free, err := FreeBytes(s.dir)
	hasAlarm := len(s.alarms()) > 0
	s.mu.Lock()
	defer s.mu.Unlock()

	available, wanted := s.reserve.available(free), int64(MinFreeBytes)
	if s.diskFull {
		wanted = enoughFreeBytes
	}
	s.diskFull = err == nil && available < wanted

	limit, inUse := s.forBoxes(), s.backend.SizeInUse()
	if s.quotaFull {
		limit = withMargin(limit)
	}
	s.quotaFull = inUse >= limit || hasAlarm

	setShortage(ReasonQuotaReached, s.quotaFull)
	setShortage(ReasonDiskFull, s.diskFull)
	switch {
	case s.diskFull:
		return &Shortage{ReasonDiskFull, fmt.Sprintf(
			"the disk of the data directory is full: %s are free besides the reserve, but %s are required. Free disk space, or enlarge the volume",
			Quantity(available), Quantity(enoughFreeBytes))}
	case s.quotaFull:
		return &Shortage{ReasonQuotaReached, fmt.Sprintf(
			"the storage is full: boxes use %s of %s. Delete boxes, or increase --quota-backend-bytes on a disk of twice that size",
			Quantity(inUse), Quantity(limit))}
	}
	return nil
}
