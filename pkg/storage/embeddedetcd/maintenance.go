// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package embeddedetcd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/etcdserver"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/storage/etcd3"
	"k8s.io/klog/v2"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/durable"
)

const (
	maintenancePeriod = time.Second

	// compactionBytes is how much history may be written before it is compacted, whatever its age. The compaction of a
	// kube-apiserver, which goes by age, would let large writes fill a small disk.
	compactionBytes = 64 << 20

	// A defragmentation stops every request while it copies what is in use, which takes a second for some 100 MB. It
	// pays when at least this much comes free, and no more than that is to be copied.
	defragmentFreeBytes  = 256 << 20
	defragmentInUseBytes = 64 << 20
	// defragmentPeriod is how long no defragmentation stops requests after one has ended, or has failed.
	defragmentPeriod = 10 * time.Second
)

// maintenance keeps etcd within its quota and its disk, and lets it continue after it was full: it compacts history, gives free
// pages back to the disk, and disarms the alarm of etcd. Until a client does that, etcd refuses writes.
type maintenance struct {
	etcd    *etcdserver.EtcdServer
	client  *clientv3.Client
	walDir  string
	space   *space
	running sync.WaitGroup
	stop    context.CancelFunc

	// revision is the one that the last look found. A compaction to it does not end watches that start from there.
	revision int64
	// compacted is the revision up to which this compacted.
	compacted int64
	// compactionVersion is the version of the key by which servers agree on whose turn it is to compact.
	compactionVersion int64
	// settledBytes is the least that was in use since the last compaction: the bytes beyond it are mostly history.
	settledBytes int64
	// nextDefragmentation is when the next one may be at the earliest.
	nextDefragmentation time.Time
	// told is the last reason that was logged.
	told Reason
}

// startMaintenance maintains etcd until it is closed, which must be before etcd is closed.
func startMaintenance(ctx context.Context, etcd *etcdserver.EtcdServer, dir string, space *space) *maintenance {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	m := &maintenance{
		etcd:         etcd,
		client:       v3client.New(etcd),
		walDir:       filepath.Join(dir, "etcd", "member", "wal"),
		space:        space,
		stop:         cancel,
		settledBytes: space.backend.SizeInUse(),
	}
	m.running.Go(func() { wait.UntilWithContext(ctx, m.look, maintenancePeriod) })
	return m
}

func (m *maintenance) close() {
	m.stop()
	m.running.Wait()
	_ = m.client.Close() // it has no connection
}

// look takes the steps that are necessary now. The next look tries a failed step again.
func (m *maintenance) look(ctx context.Context) {
	logger := klog.FromContext(ctx).WithName("etcd")
	for _, step := range []func(context.Context) error{m.purgeWAL, m.space.refresh, m.compact, m.recount, m.defragment, m.disarm} {
		if err := step(ctx); err != nil && ctx.Err() == nil {
			logger.Error(err, "Looking after etcd failed")
		}
	}
	m.tell(logger)
}

func (m *maintenance) purgeWAL(context.Context) error { return purgeWAL(m.walDir) }

// compact compacts history when there is much of it, and all of it when there is no room for anything else.
func (m *maintenance) compact(ctx context.Context) error {
	target := m.revision
	m.revision = m.etcd.KV().Rev()
	inUse := m.space.backend.SizeInUse()
	m.settledBytes = min(m.settledBytes, inUse)
	compactTo := m.compactInTurn
	if m.space.shortage() != nil {
		target, compactTo = m.revision, m.compactAtOnce
	} else if inUse-m.settledBytes < min(compactionBytes, headroom(m.space.quota)/2) {
		return nil
	}
	if target <= m.compacted {
		return nil
	}
	// What the compaction of the API server has forgotten already is as good.
	if err := compactTo(ctx, target); err != nil && !errors.Is(err, rpctypes.ErrCompacted) {
		return fmt.Errorf("compacting to revision %d: %w", target, err)
	}
	m.compacted, m.settledBytes = target, inUse
	compactions.Inc()
	return nil
}

// compactInTurn compacts as API servers do: they agree on who compacts, and learn of it, by writing a key.
func (m *maintenance) compactInTurn(ctx context.Context, revision int64) error {
	for {
		version, _, compacted, err := etcd3.Compact(ctx, m.client, m.compactionVersion, revision)
		m.compactionVersion = version
		if errors.Is(err, rpctypes.ErrNoSpace) {
			return m.compactAtOnce(ctx, revision)
		}
		if err != nil || compacted == revision {
			return err
		}
	}
}

// compactAtOnce compacts without writing, which a full etcd refuses.
func (m *maintenance) compactAtOnce(ctx context.Context, revision int64) error {
	_, err := m.client.Compact(ctx, revision, clientv3.WithCompactPhysical())
	return err
}

// recount has etcd write something that leaves nothing behind: it counts the pages that came free with its last write
// only once it writes again, and as long as they are not counted, there is no room for boxes.
func (m *maintenance) recount(ctx context.Context) error {
	if shortage := m.space.shortage(); shortage == nil || shortage.Reason != ReasonQuotaReached {
		return nil
	}
	lease, err := m.client.Grant(ctx, 1)
	if errors.Is(err, rpctypes.ErrNoSpace) {
		return nil // a defragmentation counts as well
	}
	if err == nil {
		_, err = m.client.Revoke(ctx, lease.ID)
	}
	if err != nil {
		return fmt.Errorf("counting what is in use: %w", err)
	}
	return nil
}

// defragment gives free pages back to the disk when that pays, or when etcd, which takes them for data, would refuse
// writes because of them.
func (m *maintenance) defragment(context.Context) error {
	size, inUse := m.space.backend.Size(), m.space.backend.SizeInUse()
	pays := size-inUse >= defragmentFreeBytes && inUse <= defragmentInUseBytes
	if !pays && !m.space.isFragmented() || time.Now().Before(m.nextDefragmentation) {
		return nil
	}
	free, err := FreeBytes(m.walDir)
	if err != nil || free < inUse+releaseBytes {
		return err
	}
	err = m.etcd.Defragment()
	m.nextDefragmentation = time.Now().Add(defragmentPeriod)
	if err != nil {
		return fmt.Errorf("defragmenting the database: %w", err)
	}
	// The database is another file now. Without its name, a power failure would bring back the former file.
	if err := durable.Sync(filepath.Join(filepath.Dir(m.walDir), "snap")); err != nil {
		return fmt.Errorf("syncing the directory of the database: %w", err)
	}
	defragmentations.Inc()
	return nil
}

// disarm lets etcd take writes again once there is room.
func (m *maintenance) disarm(ctx context.Context) error {
	if m.space.isNearQuota() {
		return nil
	}
	for _, alarm := range m.space.alarms() {
		if _, err := m.client.AlarmDisarm(ctx, (*clientv3.AlarmMember)(alarm)); err != nil {
			return fmt.Errorf("disarming the alarm of etcd: %w", err)
		}
	}
	return nil
}

// tell logs when boxes may no longer grow, and when they may grow again.
func (m *maintenance) tell(logger klog.Logger) {
	var reason Reason
	shortage := m.space.shortage()
	if shortage != nil {
		reason = shortage.Reason
	}
	if reason == m.told {
		return
	}
	m.told = reason
	if shortage == nil {
		logger.Info("There is room for boxes again")
		return
	}
	logger.Error(nil, "There is no room for boxes to grow", "reason", shortage.Reason, "message", shortage.Message)
}
