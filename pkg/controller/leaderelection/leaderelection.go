// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package leaderelection runs work in one process at a time, through a Lease in the cluster.
package leaderelection

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	componentbaseconfig "k8s.io/component-base/config"
)

// Run campaigns until ctx is done. While this process leads, work runs; its context is cancelled when the lead is
// lost, and a new campaign begins when it has returned. When ctx is done, the Lease is released only after work
// has returned, so that the next leader never writes beside this one. The fence lets writes pass only while this
// process leads; the client of the cluster given here must not be behind it.
func Run(ctx context.Context, cluster kubernetes.Interface, config componentbaseconfig.LeaderElectionConfiguration, identity string, fence *Fence, work func(ctx context.Context)) error {
	lock, err := resourcelock.New(config.ResourceLock, config.ResourceNamespace, config.ResourceName,
		nil, cluster.CoordinationV1(), resourcelock.ResourceLockConfig{Identity: identity})
	if err != nil {
		return fmt.Errorf("creating the leader election lock: %w", err)
	}
	for ctx.Err() == nil {
		if err := campaign(ctx, lock, config, fence, work); err != nil {
			return err
		}
	}
	return nil
}

// campaign waits for the lead, works while it has it, and gives it up when ctx is done.
func campaign(ctx context.Context, lock resourcelock.Interface, config componentbaseconfig.LeaderElectionConfiguration, fence *Fence, work func(ctx context.Context)) error {
	leading := make(chan context.Context, 1)
	guarded := &guardedLock{Interface: lock, fence: fence, validity: config.RenewDeadline.Duration}
	defer fence.close()
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:            guarded,
		LeaseDuration:   config.LeaseDuration.Duration,
		RenewDeadline:   config.RenewDeadline.Duration,
		RetryPeriod:     config.RetryPeriod.Duration,
		ReleaseOnCancel: true,
		Name:            config.ResourceName,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(lead context.Context) { leading <- lead },
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return fmt.Errorf("configuring leader election: %w", err)
	}

	// The elector releases the Lease as soon as its context is done, so it gets one that outlasts work.
	electorCtx, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		elector.Run(electorCtx)
	}()
	defer func() {
		giveUp()
		<-ended
	}()

	select {
	case <-ctx.Done():
	case lead := <-leading:
		workCtx, stop := context.WithCancel(lead)
		defer stop()
		defer context.AfterFunc(ctx, stop)()
		guarded.isHeld.Store(true)
		defer guarded.isHeld.Store(false)
		work(workCtx)
	}
	return nil
}

// guardedLock does not release the Lease while work is being done. The elector would, when it fails to renew: before
// it ends the lead, and so while this process may still write. The Lease then runs out instead.
type guardedLock struct {
	resourcelock.Interface
	isHeld atomic.Bool

	fence *Fence
	// validity is how long a lead is good for. The elector gives up one that it could not renew for so long, which
	// is before the Lease runs out: what was sent last has the time between to arrive.
	validity time.Duration
}

var errStillWorking = errors.New("work is still being done")

// Update writes the record, unless it is a release that would come too early.
func (l *guardedLock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if record.HolderIdentity == "" && l.isHeld.Load() {
		return errStillWorking
	}
	return l.write(ctx, record, l.Interface.Update)
}

// Create writes the first record.
func (l *guardedLock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(ctx, record, l.Interface.Create)
}

// write extends the fence when it wins or renews the lead. Candidates only write records of their own.
func (l *guardedLock) write(ctx context.Context, record resourcelock.LeaderElectionRecord, write func(context.Context, resourcelock.LeaderElectionRecord) error) error {
	sent := time.Now()
	if record.HolderIdentity == "" {
		l.fence.close()
	}
	if err := write(ctx, record); err != nil {
		return err
	}
	if record.HolderIdentity == l.Identity() {
		// The others only see whole seconds of the Lease's duration.
		lease := time.Duration(record.LeaseDurationSeconds) * time.Second
		l.fence.extend(sent.Add(min(l.validity, lease)))
	}
	return nil
}
