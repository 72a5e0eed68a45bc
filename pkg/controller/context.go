// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package controller runs the controllers of this server: what they share, and which there are.
package controller

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	gatewayclient "sigs.k8s.io/gateway-api/pkg/client/clientset/versioned"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/informers"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/scheme"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/hostcluster"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// Context is what the controllers share. There is a new one each time that this server leads.
type Context struct {
	// ModelClient is for this server, KubeClient for the cluster, GatewayClient for its kinds of gateway.networking.k8s.io,
	// which it may not serve, and DynamicClient for kinds of the cluster that have no Go type here.
	ModelClient   versioned.Interface
	KubeClient    kubernetes.Interface
	GatewayClient gatewayclient.Interface
	DynamicClient dynamic.Interface

	// HostCluster is what is known of the cluster. Nil: nothing is.
	HostCluster *hostcluster.Cluster

	// Informers are started by Run: a controller has to ask for its own when it is made.
	Informers *informers.Factories

	// Recorder records events from Run on.
	Recorder events.EventRecorder

	Clock clock.PassiveClock

	Configuration Configuration

	broadcaster events.EventBroadcaster
}

// NewContext returns what controllers can be made of. It sends no request until Run.
func NewContext(
	modelClient versioned.Interface, kubeClient kubernetes.Interface, gatewayClient gatewayclient.Interface, dynamicClient dynamic.Interface,
	configuration Configuration,
) *Context {
	broadcaster := events.NewBroadcaster(&fencedSink{&events.EventSinkImpl{Interface: kubeClient.EventsV1()}})
	return &Context{
		ModelClient:   modelClient,
		KubeClient:    kubeClient,
		GatewayClient: gatewayClient,
		DynamicClient: dynamicClient,
		Informers:     informers.NewFactories(modelClient, kubeClient, configuration.ModelBoxController.ResyncPeriod, kinds.TrimChild),
		Recorder:      broadcaster.NewRecorder(scheme.Scheme, render.EventReporter),
		Clock:         clock.RealClock{},
		Configuration: configuration,
		broadcaster:   broadcaster,
	}
}

// Run starts the informers and runs the controllers, which were made of this context, until ctx is done or one of them
// returns an error, which ends the others. When it returns, the last write is done. It returns the errors of all. It can
// be called once.
func (c *Context) Run(ctx context.Context, controllers []Controller) error {
	if err := c.broadcaster.StartRecordingToSinkWithContext(ctx); err != nil {
		return fmt.Errorf("starting to record events: %w", err)
	}
	defer c.broadcaster.Shutdown()

	ctx, stop := context.WithCancel(ctx)
	c.Informers.Start(ctx)
	defer c.Informers.Shutdown()
	defer stop()

	errs := make([]error, len(controllers))
	var running sync.WaitGroup
	for i, controller := range controllers {
		running.Go(func() {
			if err := controller.Run(ctx); err != nil {
				errs[i] = fmt.Errorf("controller %s: %w", controller.Name(), err)
				stop()
			}
		})
	}
	running.Wait()
	return errors.Join(errs...)
}
