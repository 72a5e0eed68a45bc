// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"sync"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/klog/v2"

	"github.com/sharelinuxs/modelbox-apiserver/cmd/modelbox-apiserver/app/options"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apiserver"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/leaderelection"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/recovery"
)

const controllersHook = "modelbox-controllers"

// addControllers lets the controllers run from when the server serves, from a store that has everything, until just
// before it stops to.
func addControllers(ctx context.Context, server *genericapiserver.GenericAPIServer, config *apiserver.Config, o *options.Options, store *recovery.Runner) error {
	election := o.Controllers.LeaderElection
	var fence *leaderelection.Fence
	if election.LeaderElect {
		fence = &leaderelection.Fence{}
	}
	clients, err := newClients(config, fence)
	if err != nil {
		return err
	}
	identity, err := o.Storage.Identity()
	if err != nil {
		return err
	}

	run := func(ctx context.Context) {
		controller, err := modelbox.New(ctx, clients.boxes, clients.cluster, o.Controllers.ResyncPeriod)
		if err != nil {
			klog.FromContext(ctx).Error(err, "Creating the controller failed")
			return
		}
		controller.Run(ctx, o.Controllers.Workers)
	}
	runElected := func(ctx context.Context) {
		select {
		case <-store.Done():
		case <-ctx.Done():
			return
		}
		if fence == nil {
			run(ctx)
			return
		}
		if err := leaderelection.Run(ctx, clients.election.CoordinationV1(), election, identity, fence, store, run); err != nil {
			klog.FromContext(ctx).Error(err, "Leader election ended")
		}
	}
	return runWhileServing(ctx, server, runElected)
}

// runWhileServing starts run once the server is up, and at shutdown waits for its end before requests are refused.
func runWhileServing(ctx context.Context, server *genericapiserver.GenericAPIServer, run func(ctx context.Context)) error {
	// Neither the context of the server nor that of the hook will do: the last writes of the controllers have to
	// go through while the server is already on its way down.
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	if err := server.AddPostStartHook(controllersHook, func(genericapiserver.PostStartHookContext) error {
		running.Go(func() { run(ctx) })
		return nil
	}); err != nil {
		stop()
		return err
	}
	return server.AddPreShutdownHook(controllersHook, func() error {
		stop()
		running.Wait()
		return nil
	})
}
