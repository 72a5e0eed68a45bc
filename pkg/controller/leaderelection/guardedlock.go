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

// guardedLock opens and closes the fence as the Lease is acquired, renewed and released. And it leaves out two
// releases that an elector would do.
//
// One is that while work is being done. The elector would, when it fails to renew: before it ends the lead, and so
// while this process may still write. The Lease then runs out instead.
//
// The other is that of a Lease that another process has taken. The elector goes by what it saw last, which may be from
// before this process was frozen.
type guardedLock struct {
	resourcelock.Interface
	fence  *Fence
	isHeld atomic.Bool
	// holder is that of the version of the Lease that the next update replaces.
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

// hold writes the record and then lets writes through. Whoever else wants to lead sees the record after it was begun
// to be written, counts the same seconds from there, and so waits for longer.
func (l *guardedLock) hold(ctx context.Context, record resourcelock.LeaderElectionRecord, write func(context.Context, resourcelock.LeaderElectionRecord) error) error {
	begun := time.Now()
	if err := write(ctx, record); err != nil {
		return err
	}
	l.holder = record.HolderIdentity
	l.fence.openUntil(ctx, begun.Add(time.Duration(record.LeaseDurationSeconds)*time.Second))
	return nil
}
