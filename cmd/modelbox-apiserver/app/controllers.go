// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"sync"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/klog/v2"

	"github.com/sharelinuxs/modelbox-apiserver/cmd/modelbox-apiserver/app/options"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/leaderelection"
)

const (
	controllersHook = "modelbox-controllers"

	// instrumentation names what records the spans of the command.
	instrumentation = "github.com/sharelinuxs/modelbox-apiserver/cmd/modelbox-apiserver/app"
)

// addControllers runs the enabled controllers from the time when the server serves a complete store until just before it stops
// serving. It passes an error of their start to fail, which must end the server. If no controller is enabled, it adds nothing, and
// the server does not take part in leader election.
func addControllers(ctx context.Context, server *genericapiserver.GenericAPIServer, config *Config, o *options.Options, fail func(error)) error {
	configuration := o.ControllerConfiguration()
	descriptors := controller.EnabledDescriptors(controller.NewDescriptors(), configuration.Controllers)
	if len(descriptors) == 0 {
		klog.FromContext(ctx).Info("No controller is enabled", "controllers", configuration.Controllers)
		return nil
	}
	election := o.Controllers.LeaderElection
	var fence *leaderelection.Fence
	if election.LeaderElect {
		fence = &leaderelection.Fence{}
	}
	clients, err := newClients(config.APIs, fence)
	if err != nil {
		return err
	}
	health := newControllersHealth(descriptors)
	health.install(server.Handler.NonGoRestfulMux)

	work := func(ctx context.Context) error {
		controllerContext := controller.NewContext(clients.model, clients.kube, clients.gateway, clients.dynamic, configuration)
		controllerContext.HostCluster = config.APIs.ExtraConfig.HostCluster
		controllers, err := controller.BuildControllers(controllerContext, descriptors)
		if err != nil {
			return err
		}
		return controllerContext.Run(ctx, health.observe(controllers))
	}
	runElected := func(ctx context.Context) error {
		if fence == nil {
			return work(ctx)
		}
		// The Lease is released when this context ends.
		ctx, giveUp := context.WithCancelCause(ctx)
		defer giveUp(nil)
		if err := leaderelection.Run(ctx, clients.election.CoordinationV1(), election, config.Identity, fence, config.Recovery, func(lead context.Context) {
			if err := work(lead); err != nil {
				giveUp(err)
			}
		}); err != nil {
			return fmt.Errorf("electing a leader: %w", err)
		}
		return context.Cause(ctx)
	}
	tracer := config.APIs.GenericConfig.TracerProvider.Tracer(instrumentation)
	return runWhileServing(ctx, server, func(ctx context.Context) {
		// Reconciles are recorded by what records this one.
		ctx, span := tracer.Start(ctx, "Run controllers")
		defer span.End()
		select {
		case <-config.Recovery.Done():
		case <-ctx.Done():
			return
		}
		if err := controller.RunUntilDone(ctx, election.LeaseDuration.Duration, runElected); err != nil {
			fail(err)
		}
	})
}

// runWhileServing starts run once the server is up, and at shutdown waits for its end before requests are refused.
func runWhileServing(ctx context.Context, server *genericapiserver.GenericAPIServer, run func(ctx context.Context)) error {
	// This is neither the context of the server nor the context of the hook, because the controllers must complete their last
	// writes while the server shuts down.
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
