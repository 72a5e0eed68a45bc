// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package cluster starts a Kubernetes control plane and its nodes as child processes on this machine.
package cluster

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/node"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/program"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/progress"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/supervisor"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/workdir"
)

// Cluster is one control plane, running or being started.
type Cluster struct {
	workdir.Dir
	Supervisor *supervisor.Supervisor
	// Client is the client of the administrator.
	Client kubernetes.Interface

	binary      string // this program, which also has most parts
	settings    Settings
	ports       ports
	credentials *credentials
	node        *node.Node   // the container node, nil if there is none
	services    netip.Prefix // the range of the addresses of services
}

// ports stay the same when parts are restarted.
type ports struct{ apiServer, controllerManager, scheduler int }

// servicesOfSimulated is the range of the addresses of services in a cluster without containers. They are not reachable.
var servicesOfSimulated = netip.MustParsePrefix("10.96.0.0/16")

// New prepares the keys, kubeconfigs, ports and addresses of a cluster in a claimed directory. It starts nothing.
func New(claim *workdir.Claim, settings Settings, announce func(line string)) (*Cluster, error) {
	if err := claim.Prepare(); err != nil {
		return nil, err
	}
	c := &Cluster{
		Dir:        claim.Dir,
		Supervisor: supervisor.New(string(claim.Dir), claim.Logs(), claim.Run(), announce),
		settings:   settings,
		services:   servicesOfSimulated,
	}
	var err error
	if c.binary, err = os.Executable(); err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	if settings.Nodes.Container {
		if _, err := os.Stat(c.separateProgram(program.ContainerNode)); err != nil {
			return nil, fmt.Errorf("finding the program of the container node, which make build builds: %w", err)
		}
		if c.node, err = node.New(c.Dir); err != nil {
			return nil, err
		}
		c.services = c.node.Services()
	}
	for _, path := range []*string{&c.settings.Host, &c.settings.Etcd} {
		if *path == "" {
			*path = c.binary
			continue
		}
		// They run in separate directories.
		if *path, err = filepath.Abs(*path); err != nil {
			return nil, fmt.Errorf("resolving the path of %s: %w", *path, err)
		}
	}
	for _, port := range []*int{&c.ports.apiServer, &c.ports.controllerManager, &c.ports.scheduler} {
		if *port, err = ReservePort(); err != nil {
			return nil, err
		}
	}
	if c.credentials, err = issueCredentials(c.services.Addr().Next()); err != nil {
		return nil, err
	}
	if err := c.credentials.write(c.Dir); err != nil {
		return nil, err
	}
	if err := c.writeKubeconfigs(); err != nil {
		return nil, err
	}
	return c, c.connect()
}

func (c *Cluster) connect() error {
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig())
	if err != nil {
		return fmt.Errorf("reading the administrator's kubeconfig: %w", err)
	}
	// The start must not wait for a server that hangs.
	config.Timeout = 10 * time.Second
	c.Client, err = kubernetes.NewForConfig(config)
	return err
}

// Start starts all parts, and waits until the cluster is ready. After an error, the started parts run until Stop.
func (c *Cluster) Start(ctx context.Context, report *progress.Reporter) error {
	for _, step := range []struct {
		title string
		skip  bool
		do    func() error
	}{
		{"etcd ready", false, func() error {
			return c.Supervisor.Start(ctx, c.etcd())
		}},
		{"kube-apiserver ready", false, func() error {
			return c.startAPIServer(ctx)
		}},
		// The controllers exit if their roles do not exist yet.
		{"controller manager and scheduler ready", false, func() error {
			return c.startControllers(ctx)
		}},
		{fmt.Sprintf("%d simulated nodes ready", c.settings.Nodes.Simulated), c.settings.Nodes.Simulated == 0, func() error {
			return c.startSimulatedNodes(ctx)
		}},
		{"container node ready", !c.settings.Nodes.Container, func() error {
			return c.startContainerNode(ctx)
		}},
		{"default ServiceAccount exists", false, func() error {
			return c.Supervisor.BlameOn(program.ControllerManager, c.awaitDefaultServiceAccount(ctx))
		}},
	} {
		if step.skip {
			continue
		}
		if err := report.Step(step.title, step.do); err != nil {
			return err
		}
	}
	return nil
}

// Stop stops all started parts.
func (c *Cluster) Stop() error {
	c.Supervisor.Stop()
	if c.node == nil {
		return nil
	}
	return c.node.Disconnect()
}

// URL returns the URL of the API server.
func (c *Cluster) URL() string { return fmt.Sprintf("https://127.0.0.1:%d", c.ports.apiServer) }

// separateProgram returns the path of a separate program.
func (c *Cluster) separateProgram(name string) string {
	return filepath.Join(filepath.Dir(c.binary), name)
}
