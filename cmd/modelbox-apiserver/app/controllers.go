// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
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
	boxesConfig, clusterConfig := clientConfig(config.GenericConfig.LoopbackClientConfig), clientConfig(config.GenericConfig.ClientConfig)
	elections, err := kubernetes.NewForConfig(clusterConfig)
	if err != nil {
		return fmt.Errorf("creating the client for leader election: %w", err)
	}
	fence := &leaderelection.Fence{}
	if o.Controllers.LeaderElection.LeaderElect {
		boxesConfig.Wrap(fence.Wrap)
		clusterConfig.Wrap(fence.Wrap)
	}
	boxes, err := versioned.NewForConfig(boxesConfig)
	if err != nil {
		return fmt.Errorf("creating the controllers' client of this server: %w", err)
	}
	cluster, err := kubernetes.NewForConfig(clusterConfig)
	if err != nil {
		return fmt.Errorf("creating the controllers' client of the cluster: %w", err)
	}
	identity, err := o.Storage.Identity()
	if err != nil {
		return err
	}

	run := func(ctx context.Context) {
		controller, err := modelbox.New(ctx, boxes, cluster, o.Controllers.ResyncPeriod)
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
		if err := leaderelection.Run(ctx, elections, o.Controllers.LeaderElection, identity, fence, run); err != nil {
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

// clientConfig is how the controllers reach an API server: in protobuf, and without a rate limit of their own, for
// priority and fairness of the server at the other end is the limit.
func clientConfig(config *rest.Config) *rest.Config {
	config = rest.AddUserAgent(rest.CopyConfig(config), "modelbox-controller")
	config.QPS = -1
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	return config
}
