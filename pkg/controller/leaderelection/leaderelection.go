// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package leaderelection runs work in one process at a time, through a Lease in the cluster.
package leaderelection

import (
	"context"
	"fmt"

	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	componentbaseconfig "k8s.io/component-base/config"
)

// Run campaigns until ctx is done. While this process leads, work runs; its context is cancelled when the lead is
// lost, and a new campaign begins when it has returned. When ctx is done, the Lease is released only after work
// has returned, so that the next leader never writes beside this one.
//
// The fence is open while this process holds the Lease, and closes even if the process has not noticed that it lost the Lease. work
// has to write through the fence, leases must not. marker sees every Lease that is read or written; nil for none.
func Run(ctx context.Context, leases coordinationv1client.CoordinationV1Interface, config componentbaseconfig.LeaderElectionConfiguration, identity string, fence *Fence, marker Marker, work func(ctx context.Context)) error {
	if marker != nil {
		leases = markedLeases{leases, marker}
	}
	lock, err := resourcelock.New(config.ResourceLock, config.ResourceNamespace, config.ResourceName,
		nil, leases, resourcelock.ResourceLockConfig{Identity: identity})
	if err != nil {
		return fmt.Errorf("creating the leader election lock: %w", err)
	}
	for ctx.Err() == nil {
		if err := campaign(ctx, &guardedLock{Interface: lock, fence: fence}, config, work); err != nil {
			return err
		}
	}
	return nil
}

// campaign waits for the lead, works while it has it, and gives it up when ctx is done.
func campaign(ctx context.Context, lock *guardedLock, config componentbaseconfig.LeaderElectionConfiguration, work func(ctx context.Context)) error {
	leading := make(chan context.Context, 1)
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:            lock,
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
		lock.isHeld.Store(true)
		defer lock.isHeld.Store(false)
		work(workCtx)
	}
	return nil
}
