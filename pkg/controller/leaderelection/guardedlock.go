// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package leaderelection

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

var errStillWorking = errors.New("work is still being done")

// guardedLock opens and closes the fence as the Lease is acquired, renewed and released. It leaves out two releases that an elector
// would do.
//
// The first is a release while work is being done. An elector that fails to renew releases the Lease before it ends the lead, while
// this process may still write. Without the release, the Lease runs out instead.
//
// The second is a release of a Lease that another process has taken. The elector goes by the record that it saw last, which may be
// from before this process was frozen.
type guardedLock struct {
	resourcelock.Interface
	fence  *Fence
	isHeld atomic.Bool
	// holder is the holder in the version of the Lease that the next update replaces.
	holder string
}

// Get reads the record, and with it the version of the Lease that the next update replaces.
func (l *guardedLock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	if err == nil {
		l.holder = record.HolderIdentity
	}
	return record, raw, err
}

// Create acquires a Lease that does not exist yet.
func (l *guardedLock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.hold(ctx, record, l.Interface.Create)
}

// Update acquires, renews or releases the Lease.
func (l *guardedLock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	switch {
	case record.HolderIdentity != "":
		return l.hold(ctx, record, l.Interface.Update)
	case l.isHeld.Load():
		return errStillWorking
	case l.holder != l.Identity():
		return nil
	default:
		l.fence.close()
		return l.Interface.Update(ctx, record)
	}
}

// hold writes the record and then lets writes through. Other candidates see the record after hold has begun to write it, and count
// the same seconds from then on. So they wait for longer.
func (l *guardedLock) hold(ctx context.Context, record resourcelock.LeaderElectionRecord, write func(context.Context, resourcelock.LeaderElectionRecord) error) error {
	begun := time.Now()
	if err := write(ctx, record); err != nil {
		return err
	}
	l.holder = record.HolderIdentity
	l.fence.openUntil(ctx, begun.Add(time.Duration(record.LeaseDurationSeconds)*time.Second))
	return nil
}
