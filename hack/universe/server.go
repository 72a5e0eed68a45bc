// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package universe

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	componentbaseconfig "k8s.io/component-base/config"
	gatewayclient "sigs.k8s.io/gateway-api/pkg/client/clientset/versioned"

	"github.com/sharelinuxs/modelbox-apiserver/hack/universe/cluster"
	"github.com/sharelinuxs/modelbox-apiserver/hack/universe/transport"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/leaderelection"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelstack"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/poddebugger"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/prometheus"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/references"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/recovery"
)

// serverPrefix is what the names of the clients of servers begin with.
const serverPrefix = "modelbox-"

// election has longer periods than the election of a real server, because each attempt is a request.
var election = componentbaseconfig.LeaderElectionConfiguration{
	LeaderElect: true, ResourceLock: "leases", ResourceNamespace: "kube-system", ResourceName: "modelbox-apiserver",
	LeaseDuration: metav1.Duration{Duration: 3 * time.Minute}, RenewDeadline: metav1.Duration{Duration: 2 * time.Minute},
	RetryPeriod: metav1.Duration{Duration: 30 * time.Second},
}

// process is something that runs until it is killed.
type process struct {
	client *transport.Client
	cancel context.CancelFunc
	done   chan struct{}
	err    error
	// cutOffUntil is when the network of the process works again, zero if it does.
	cutOffUntil time.Time
}

// startProcess runs a process whose requests have the client.
func startProcess(ctx context.Context, client *transport.Client, run func(context.Context) error) *process {
	ctx, cancel := context.WithCancel(ctx)
	p := &process{client: client, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.err = run(ctx)
	}()
	return p
}

// kill kills the process, and waits until nothing of it is left.
func (p *process) kill() error {
	p.client.Kill()
	p.cancel()
	<-p.done
	return p.err
}

// startServers starts all servers.
func (w *world) startServers(ctx context.Context) error {
	w.servers = nil
	for range w.plan.Servers {
		server, err := w.newServer(ctx)
		if err != nil {
			return fmt.Errorf("starting a server: %w", err)
		}
		w.servers = append(w.servers, server)
	}
	return nil
}

// newServer starts the controllers of ModelBox as a server does, which take part in leader election if there are several servers.
func (w *world) newServer(ctx context.Context) (*process, error) {
	w.started++
	client := w.network.NewClient(fmt.Sprintf("%s%d", serverPrefix, w.started), true)
	config := &rest.Config{Host: host, Transport: client, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeProtobuf}}
	electionClient, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	if w.plan.Servers == 1 && !w.plan.LosesStores {
		work, err := newWork(config)
		if err != nil {
			return nil, err
		}
		return startProcess(ctx, client, func(ctx context.Context) error { return runUntilDone(ctx, work) }), nil
	}
	fence, fenced := &leaderelection.Fence{}, rest.CopyConfig(config)
	fenced.Wrap(fence.Wrap)
	work, err := newWork(fenced)
	if err != nil {
		return nil, err
	}
	identity := w.identityOf(client)
	elected := func(ctx context.Context, marker leaderelection.Marker) error {
		return runUntilDone(ctx, func(ctx context.Context) error {
			ctx, giveUp := context.WithCancelCause(ctx)
			defer giveUp(nil)
			err := leaderelection.Run(ctx, electionClient.CoordinationV1(), election, identity, fence, marker, func(lead context.Context) {
				if err := work(lead); err != nil {
					giveUp(err)
				}
			})
			return errors.Join(err, context.Cause(ctx))
		})
	}
	if !w.plan.LosesStores {
		return startProcess(ctx, client, func(ctx context.Context) error { return elected(ctx, nil) }), nil
	}
	return startProcess(ctx, client, func(ctx context.Context) error {
		return w.serveStore(ctx, config, identity, func(ctx context.Context, runner *recovery.Runner) error { return elected(ctx, runner) })
	}), nil
}

func runUntilDone(ctx context.Context, run func(context.Context) error) error {
	return controller.RunUntilDone(ctx, election.LeaseDuration.Duration, run)
}

// newWork returns what runs the controllers until its context is done.
func newWork(config *rest.Config) (func(context.Context) error, error) {
	modelClient, err := versioned.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	kubernetesClient, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	inJSON := rest.CopyConfig(config)
	inJSON.ContentType = runtime.ContentTypeJSON
	gatewayClient, err := gatewayclient.NewForConfig(inJSON)
	if err != nil {
		return nil, err
	}
	dynamicClient, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	descriptors := controller.EnabledDescriptors(controller.NewDescriptors(), []string{modelbox.Name, modelstack.Name, poddebugger.Name, references.Name})
	return func(ctx context.Context) error {
		c := controller.NewContext(modelClient, kubernetesClient, gatewayClient, dynamicClient, controller.Configuration{
			ModelBoxController: controller.ModelBoxControllerConfiguration{
				ConcurrentSyncs: 1, ResyncPeriod: 10 * time.Minute,
				Prometheus: prometheus.Config{URL: host + cluster.PrometheusPath, WrapTransport: func(http.RoundTripper) http.RoundTripper { return config.Transport }},
			},
			ReferencesController: controller.ReferencesControllerConfiguration{
				RestartRate: 1, KeySecret: types.NamespacedName{Namespace: metav1.NamespaceSystem, Name: "modelbox-references"},
			},
		})
		controllers, err := controller.BuildControllers(c, descriptors)
		if err != nil {
			return err
		}
		return c.Run(ctx, controllers)
	}, nil
}
