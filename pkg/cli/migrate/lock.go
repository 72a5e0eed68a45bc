// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// The Lease that a command holds while it changes anything. It expires when the command is killed.
const (
	leaseName     = "modelbox-migration"
	leaseDuration = 10 * time.Second
	renewDeadline = 7 * time.Second
	retryPeriod   = time.Second
)

var errLostLease = errors.New("another command holds the migration lock")

// exclusively waits for the Lease, and calls do while no other command changes the cluster.
func (o *options) exclusively(ctx context.Context, do func(context.Context) error) error {
	if o.dryRun.isDry() {
		return do(ctx)
	}
	_, err := o.clients.cluster.CoreV1().Namespaces().Get(ctx, serverNamespace, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("getting the namespace of the server: %w", err)
	}
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("getting the hostname for the migration lock: %w", err)
	}
	identity := host + "_" + string(uuid.NewUUID())
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	result := errLostLease
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: serverNamespace, Name: leaseName},
			Client:     o.clients.cluster.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
		},
		LeaseDuration:   leaseDuration,
		RenewDeadline:   renewDeadline,
		RetryPeriod:     retryPeriod,
		ReleaseOnCancel: true,
		Name:            leaseName,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				defer cancel()
				result = do(ctx)
			},
			OnStoppedLeading: func() {},
			OnNewLeader: func(holder string) {
				if holder != identity {
					fmt.Fprintf(o.ErrOut, "waiting: the migration lock is held by %s\n", holder)
				}
			},
		},
	})
	if err != nil {
		return fmt.Errorf("preparing the migration lock: %w", err)
	}
	elector.Run(ctx)
	return result
}
