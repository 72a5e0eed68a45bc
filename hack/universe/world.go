// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package universe simulates clusters. The controllers of ModelBox and of Kubernetes run in one process, and a number decides what
// users do, what fails, in which order requests and events arrive, and how much time passes. The package checks the promises of
// ModelBox for boxes and stacks.
package universe

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/runtime"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	gatewayclient "sigs.k8s.io/gateway-api/pkg/client/clientset/versioned"

	"github.com/sharelinuxs/modelbox-apiserver/hack/universe/apiserver"
	"github.com/sharelinuxs/modelbox-apiserver/hack/universe/cluster"
	"github.com/sharelinuxs/modelbox-apiserver/hack/universe/store"
	"github.com/sharelinuxs/modelbox-apiserver/hack/universe/transport"
	modelapiserver "github.com/sharelinuxs/modelbox-apiserver/pkg/apiserver"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/hostcluster"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/server/hostclients"
)

// namespace is where all boxes are.
const namespace = "default"

// host is the address of the API servers in requests. It does not exist.
const host = "http://universe"

// Servers are the API servers of all runs. A run begins with empty stores.
type Servers struct {
	kubernetes, modelBox *store.Store
	addresses            *apiserver.ServiceAddresses
	quota                *apiserver.Quota
	prometheus           *cluster.Prometheus
	handler              http.Handler
	// isServed is true while requests for the objects of ModelBox are handled.
	isServed atomic.Bool
	// states has the states of boxes that all runs have come to.
	states map[string]bool
}

// States returns the number of different states of boxes in all runs so far.
func (s *Servers) States() int { return len(s.states) }

// NewServers returns the API servers.
func NewServers() (*Servers, error) {
	s := &Servers{kubernetes: store.New(), modelBox: store.New(), addresses: &apiserver.ServiceAddresses{}, quota: &apiserver.Quota{}, states: map[string]bool{}}
	kubernetesHandler, err := apiserver.NewKubernetes(s.kubernetes, s.addresses, s.quota)
	if err != nil {
		return nil, fmt.Errorf("creating the API server of Kubernetes: %w", err)
	}
	// The subresources of boxes read children without a delay.
	network := transport.NewNetwork(kubernetesHandler)
	config := &genericapiserver.RecommendedConfig{ClientConfig: &rest.Config{Host: host, Transport: network.NewClient("subresources", false), QPS: -1}}
	discoveryClient, err := discovery.NewDiscoveryClientForConfig(config.ClientConfig)
	if err != nil {
		return nil, fmt.Errorf("creating the discovery client: %w", err)
	}
	var extra modelapiserver.ExtraConfig
	if extra.BoxChildren, extra.BoxDiffer, err = hostclients.NewBoxChildren(config, hostcluster.New(discoveryClient, clock.RealClock{})); err != nil {
		return nil, err
	}
	modelBoxHandler, err := apiserver.NewModelBox(s.modelBox, extra)
	if err != nil {
		return nil, fmt.Errorf("creating the API server of ModelBox: %w", err)
	}
	s.prometheus = &cluster.Prometheus{Store: s.kubernetes}
	handler := http.NewServeMux()
	handler.Handle(cluster.PrometheusPath+"/", s.prometheus)
	handler.Handle("/", apiserver.Aggregate(kubernetesHandler, s.gate(modelBoxHandler)))
	s.handler = handler
	return s, nil
}

// world is the simulated cluster of a run.
type world struct {
	*Servers
	plan    Plan
	random  *rand.Rand
	network *transport.Network
	nodes   *cluster.Nodes
	gateway *cluster.Gateway
	load    *cluster.Load
	users   *users

	// servers are the servers of ModelBox, and manager is kube-controller-manager.
	servers []*process
	manager *process
	// snapshot is the last snapshot of the store of ModelBox, nil if there is none.
	snapshot *store.Snapshot
	// started is the number of servers that were started so far.
	started int

	checks *checks
	// trace is nil if there is none.
	trace io.Writer
	// lastWrite is the time of the last write, except for events, Leases, and measurements while a rollout waits for a user.
	lastWrite time.Time
	stats     Stats
}

// Stats says how much happened in a run.
type Stats struct {
	Moves, Requests, Writes, WritesOfControllers, WritesWithoutEffect, Faults, Restarts, Losses int
	Simulated                                                                                   time.Duration
}

func (s *Stats) add(other Stats) {
	s.Moves += other.Moves
	s.Requests += other.Requests
	s.Writes += other.Writes
	s.WritesOfControllers += other.WritesOfControllers
	s.WritesWithoutEffect += other.WritesWithoutEffect
	s.Faults += other.Faults
	s.Restarts += other.Restarts
	s.Losses += other.Losses
	s.Simulated += other.Simulated
}

// newWorld returns the world of the plan. It must be called in the bubble of the run.
func newWorld(ctx context.Context, servers *Servers, plan Plan, trace io.Writer) (*world, error) {
	w := &world{Servers: servers, plan: plan, random: rand.New(rand.NewPCG(plan.Seed, 1)), network: transport.NewNetwork(servers.handler), trace: trace}
	w.checks = newChecks(w)
	w.lastWrite = time.Now()
	servers.kubernetes.Reset(w.observe)
	servers.modelBox.Reset(w.observe)
	if err := servers.addresses.Reset(); err != nil {
		return nil, err
	}
	servers.quota.Exceed(time.Time{})
	servers.prometheus.Reset()
	servers.isServed.Store(!plan.LosesStores)
	// Libraries choose names, UIDs and waits by chance.
	utilrand.Seed(int64(plan.Seed))
	seedGlobalRandom(int64(plan.Seed))
	uuid.SetRand(rand.NewChaCha8(seed32(plan.Seed)))

	config := &rest.Config{Host: host, Transport: w.network.NewClient("users", false), QPS: -1}
	kubernetesClient, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	modelClient, err := versioned.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	gatewayClient, err := gatewayclient.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	w.gateway = &cluster.Gateway{Client: gatewayClient, Store: servers.kubernetes}
	w.nodes = &cluster.Nodes{Client: kubernetesClient, Store: servers.kubernetes, Names: []string{"node-1", "node-2"}}
	w.load = &cluster.Load{Store: servers.kubernetes}
	w.users = &users{
		boxes: modelClient.ModelV1().ModelBoxes(namespace), stacks: modelClient.ModelV1().ModelStacks(namespace),
		podDebuggers: modelClient.ModelV1().PodDebuggers(namespace), routes: gatewayClient.GatewayV1().HTTPRoutes(namespace),
		cluster: kubernetesClient, world: w,
	}
	return w, w.nodes.Create(ctx)
}

// startManager starts kube-controller-manager.
func (w *world) startManager(ctx context.Context) {
	client := w.network.NewClient("kube-controller-manager", true)
	config := &rest.Config{Host: host, Transport: client, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeProtobuf}}
	discovery := &rest.Config{Host: host, Transport: w.network.NewClient("discovery", false), QPS: -1}
	w.manager = startProcess(ctx, client, func(ctx context.Context) error { return cluster.Run(ctx, config, discovery, w.load) })
}

// note adds a line to the trace.
func (w *world) note(format string, arguments ...any) {
	if w.trace != nil {
		_, _ = fmt.Fprintf(w.trace, time.Now().UTC().Format("15:04:05.000 ")+format+"\n", arguments...)
	}
}

func seed32(seed uint64) (bytes [32]byte) {
	for i := range bytes {
		bytes[i] = byte(seed >> (8 * (i % 8)))
	}
	return bytes
}
