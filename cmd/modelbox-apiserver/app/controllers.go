// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"sync"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/sharelinuxs/modelbox-apiserver/cmd/modelbox-apiserver/app/options"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apiserver"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/leaderelection"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
)

const controllersHook = "modelbox-controllers"

// addControllers lets the controllers run from when the server serves until just before it stops to.
func addControllers(ctx context.Context, server *genericapiserver.GenericAPIServer, config *apiserver.Config, o *options.Options) error {
	boxes, err := versioned.NewForConfig(unlimited(config.GenericConfig.LoopbackClientConfig, "modelbox-controller"))
	if err != nil {
		return fmt.Errorf("creating the controllers' client of this server: %w", err)
	}
	cluster, err := kubernetes.NewForConfig(unlimited(config.GenericConfig.ClientConfig, "modelbox-controller"))
	if err != nil {
		return fmt.Errorf("creating the controllers' client of the cluster: %w", err)
	}
	identity, err := o.Storage.Identity()
	if err != nil {
		return err
	}

	run := func(ctx context.Context) {
		controller, err := modelbox.New(ctx, boxes, cluster)
		if err != nil {
			klog.FromContext(ctx).Error(err, "Creating the controller failed")
			return
		}
		controller.Run(ctx, o.Controllers.Workers)
	}
	runElected := func(ctx context.Context) {
		if !o.Controllers.LeaderElection.LeaderElect {
			run(ctx)
			return
		}
		if err := leaderelection.Run(ctx, cluster, o.Controllers.LeaderElection, identity, run); err != nil {
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

// unlimited returns the client configuration without a rate limit of its own: priority and fairness of the server
// at the other end is the limit.
func unlimited(config *rest.Config, userAgent string) *rest.Config {
	config = rest.AddUserAgent(rest.CopyConfig(config), userAgent)
	config.QPS = -1
	return config
}
