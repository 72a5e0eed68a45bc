// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"sync"

	"k8s.io/utils/clock"

	"github.com/sharelinuxs/modelbox-apiserver/cmd/modelbox-apiserver/app/options"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/embeddedetcd"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/snapshot"
)

// startSnapshots saves snapshots of the embedded etcd, which is running, until ctx is done or stop is called.
func startSnapshots(ctx context.Context, o *options.Options) (stop func(), err error) {
	if o.Snapshots.Period == 0 {
		return func() {}, nil
	}
	client, err := connectToEtcd(ctx, o.Recommended.Etcd.StorageConfig.Transport)
	if err != nil {
		return nil, err
	}
	scheduler := &snapshot.Scheduler{
		Client:    client,
		Dir:       o.Snapshots.Dir,
		Period:    o.Snapshots.Period,
		Keep:      o.Snapshots.Keep,
		Clock:     clock.RealClock{},
		FreeBytes: embeddedetcd.FreeBytes,
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { scheduler.Run(ctx) })
	return func() {
		cancel()
		running.Wait()
		_ = client.Close() // the connection ends with the process
	}, nil
}
