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

// Reason is a word for what there is not enough of.
type Reason string

const (
	// ReasonQuotaReached: boxes fill what the quota leaves to them.
	ReasonQuotaReached Reason = "QuotaReached"
	// ReasonDiskFull: the disk of the data directory has too little free space.
	ReasonDiskFull Reason = "DiskFull"
)

// Shortage is why boxes may not be created and may not grow. Everything else goes on.
type Shortage struct {
	Reason Reason
	// Message says what there is, what there has to be, and what to do.
	Message string
}

// space tells whether there is room for boxes. What is short stays so until there is noticeably more than enough.
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

// newSpace releases the reserve of a disk that is so full that etcd may not even start without it.
func newSpace(dir string, quota int64) (*space, error) {
	s := &space{dir: dir, quota: quota, reserve: newReserve(dir)}
	return s, s.refresh(context.Background())
}

// of says whose space it is.
func (s *space) of(etcd *etcdserver.EtcdServer) {
	s.etcd, s.backend = etcd, etcd.Backend()
}

// forBoxes is how much of the quota boxes may fill.
func (s *space) forBoxes() int64 { return s.quota - headroom(s.quota) }

// nearQuota is the size at which etcd refuses writes soon.
func (s *space) nearQuota() int64 { return s.quota - headroom(s.quota)/2 }

// isNearQuota returns whether etcd refuses writes soon. It counts free pages as data.
func (s *space) isNearQuota() bool { return s.backend.Size() >= s.nearQuota() }

// isFragmented returns whether etcd refuses writes soon only because of free pages.
func (s *space) isFragmented() bool {
	return s.isNearQuota() && s.backend.SizeInUse() < withMargin(s.nearQuota())
}

// withMargin is what has to be fallen short of again once the limit was reached.
func withMargin(limit int64) int64 { return limit - limit/16 }

// alarms returns those with which etcd refuses writes.
func (s *space) alarms() []*etcdserverpb.AlarmMember {
	return slices.DeleteFunc(s.etcd.Alarms(), func(alarm *etcdserverpb.AlarmMember) bool {
		return alarm.Alarm != etcdserverpb.AlarmType_NOSPACE
	})
}

// refresh gives the reserve of disk space up, or takes it again, and updates the metrics.
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

// shortage returns nil when there is room for boxes. It looks at the moment, not at the last refresh.
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
