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

	// compactionBytes is the amount of history that is compacted independent of its age. The compaction of kube-apiserver is by age
	// only, and would let large writes fill a small disk.
	compactionBytes = 64 << 20

	// A defragmentation blocks all requests while it copies the data in use, at about 100 MB a second. The server defragments if at
	// least defragmentFreeBytes become free, and at most defragmentInUseBytes are copied.
	defragmentFreeBytes  = 256 << 20
	defragmentInUseBytes = 64 << 20
	// defragmentPeriod is the minimum time between the end of a defragmentation, successful or not, and the next one.
	defragmentPeriod = 10 * time.Second
)

// maintenance keeps etcd within its quota and its disk: it compacts history, defragments the database to return free pages to the
// disk, and disarms the alarm of etcd after etcd was full. Until a client does that, etcd refuses writes.
type maintenance struct {
	etcd    *etcdserver.EtcdServer
	client  *clientv3.Client
	walDir  string
	space   *space
	running sync.WaitGroup
	stop    context.CancelFunc

	// revision is the revision at the last sync. A compaction to it does not end watches that start from there.
	revision int64
	// compacted is the last revision that maintenance compacted to.
	compacted int64
	// compactionVersion is the version of the key that coordinates the compactions of several servers.
	compactionVersion int64
	// settledBytes is the smallest number of bytes in use since the last compaction. Bytes beyond it are mostly history.
	settledBytes int64
	// nextDefragmentation is the earliest time of the next defragmentation.
	nextDefragmentation time.Time
	// logged is the last reason that was logged, empty for no shortage.
	logged Reason
}

// startMaintenance maintains etcd until close is called. Call close before etcd is closed.
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
	m.running.Go(func() { wait.UntilWithContext(ctx, m.sync, maintenancePeriod) })
	return m
}

func (m *maintenance) close() {
	m.stop()
	m.running.Wait()
	_ = m.client.Close() // it has no connection
}

// sync runs the steps that are necessary now. The next sync repeats a failed step.
func (m *maintenance) sync(ctx context.Context) {
	logger := klog.FromContext(ctx).WithName("etcd")
	for _, step := range []func(context.Context) error{m.purgeWAL, m.space.refresh, m.compact, m.recount, m.defragment, m.disarm} {
		if err := step(ctx); err != nil && ctx.Err() == nil {
			logger.Error(err, "Maintaining etcd failed")
		}
	}
	m.logShortage(logger)
}

func (m *maintenance) purgeWAL(context.Context) error { return purgeWAL(m.walDir) }

// compact compacts history to the revision of the last sync if there is much of it, and all history if there is a shortage of
// space.
func (m *maintenance) compact(ctx context.Context) error {
	target := m.revision
	m.revision = m.etcd.KV().Rev()
	inUse := m.space.backend.SizeInUse()
	m.settledBytes = min(m.settledBytes, inUse)
	compactTo := m.compactCoordinated
	if m.space.shortage() != nil {
		target, compactTo = m.revision, m.compactImmediately
	} else if inUse-m.settledBytes < min(compactionBytes, headroom(m.space.quota)/2) {
		return nil
	}
	if target <= m.compacted {
		return nil
	}
	// It is no error if the compaction of the API server was faster.
	if err := compactTo(ctx, target); err != nil && !errors.Is(err, rpctypes.ErrCompacted) {
		return fmt.Errorf("compacting to revision %d: %w", target, err)
	}
	m.compacted, m.settledBytes = target, inUse
	compactions.Inc()
	return nil
}

// compactCoordinated compacts as API servers do: they write a key to coordinate which server compacts.
func (m *maintenance) compactCoordinated(ctx context.Context, revision int64) error {
	for {
		version, _, compacted, err := etcd3.Compact(ctx, m.client, m.compactionVersion, revision)
		m.compactionVersion = version
		if errors.Is(err, rpctypes.ErrNoSpace) {
			return m.compactImmediately(ctx, revision)
		}
		if err != nil || compacted == revision {
			return err
		}
	}
}

// compactImmediately compacts without a write, because a full etcd refuses writes.
func (m *maintenance) compactImmediately(ctx context.Context, revision int64) error {
	_, err := m.client.Compact(ctx, revision, clientv3.WithCompactPhysical())
	return err
}

// recount grants a lease and revokes it during a shortage: etcd updates its number of free pages only with a write, and the
// shortage continues until then.
func (m *maintenance) recount(ctx context.Context) error {
	if shortage := m.space.shortage(); shortage == nil || shortage.Reason != ReasonQuotaReached {
		return nil
	}
	lease, err := m.client.Grant(ctx, 1)
	if errors.Is(err, rpctypes.ErrNoSpace) {
		return nil // a defragmentation also updates the number
	}
	if err == nil {
		_, err = m.client.Revoke(ctx, lease.ID)
	}
	if err != nil {
		return fmt.Errorf("updating the bytes in use: %w", err)
	}
	return nil
}

// defragment returns free pages to the disk if there are enough of them, or if etcd, which counts them as data, would refuse writes
// because of them.
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
	// The database is a new file now. Without the sync of its name, a power failure would restore the former file.
	if err := durable.Sync(filepath.Join(filepath.Dir(m.walDir), "snap")); err != nil {
		return fmt.Errorf("syncing the directory of the database: %w", err)
	}
	defragmentations.Inc()
	return nil
}

// disarm disarms the alarm of etcd if the database is below the quota again, so that etcd accepts writes.
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

// logShortage logs the start and the end of a shortage of space.
func (m *maintenance) logShortage(logger klog.Logger) {
	var reason Reason
	shortage := m.space.shortage()
	if shortage != nil {
		reason = shortage.Reason
	}
	if reason == m.logged {
		return
	}
	m.logged = reason
	if shortage == nil {
		logger.Info("The storage accepts new boxes again")
		return
	}
	logger.Error(nil, "The storage refuses new boxes, and larger ones", "reason", shortage.Reason, "message", shortage.Message)
}
