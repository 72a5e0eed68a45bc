// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package modelbox installs the product in a local cluster: its manifests, its service account, and its binary as a process on this
// machine.
package modelbox

import (
	"context"

	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/cluster"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/pki"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/program"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/progress"
)

// The names in the manifests in artifacts/base.
const (
	name       = "modelbox-apiserver"
	namespace  = "modelbox-system"
	apiService = "v1.model.github.com"
)

// Options are the options of an installation.
type Options struct {
	// Server is the path of the product's binary.
	Server string
	// ServerArgs are additional flags of the server.
	ServerArgs []string
	// Audit makes the server log writes in an audit log.
	Audit bool
	// Artifacts is the directory with the kustomize base and components.
	Artifacts string
	// Components are the names of components to install in addition to the base.
	Components []string
	// Sample is the path of a manifest to apply at the end, empty for none.
	Sample string
}

// installation is the shared state of the steps of an installation.
type installation struct {
	Options
	cluster *cluster.Cluster
	report  *progress.Reporter
	port    int
	ca      *pki.Authority
}

// Install installs the product, and waits until the cluster serves its API.
func Install(ctx context.Context, c *cluster.Cluster, options Options, report *progress.Reporter) error {
	port, err := cluster.ReservePort()
	if err != nil {
		return err
	}
	ca, err := pki.NewAuthority("modelbox-apiserver-ca")
	if err != nil {
		return err
	}
	in := &installation{Options: options, cluster: c, report: report, port: port, ca: ca}
	_, runsContainers := c.NodeAddress()
	for _, step := range []struct {
		title string
		skip  bool
		do    func(context.Context) error
	}{
		{"manifests applied", false, in.applyManifests},
		{"service account token issued", false, in.provideCredentials},
		{name + " ready", false, in.startServer},
		{"APIService " + apiService + " available", false, in.awaitAPIService},
		{"controller manager sees its resources", false, in.restartGarbageCollector},
		{"sample ready", options.Sample == "", in.applySample},
		{"sample answers", options.Sample == "" || !runsContainers, in.awaitAnswer},
	} {
		if step.skip {
			continue
		}
		if err := report.Step(step.title, func() error { return step.do(ctx) }); err != nil {
			return err
		}
	}
	return nil
}

func (in *installation) awaitAPIService(ctx context.Context) error {
	_, err := in.cluster.Kubectl(ctx, "wait", "apiservice/"+apiService,
		"--for=condition=Available", "--timeout="+kubectlTimeout(ctx))
	return in.cluster.Supervisor.BlameOn(name, err)
}

// restartGarbageCollector restarts kube-controller-manager, which otherwise takes up to half a minute to discover the new
// resources. Until then, the deletion of a box does not delete its children.
func (in *installation) restartGarbageCollector(ctx context.Context) error {
	return in.cluster.Supervisor.Restart(ctx, program.ControllerManager)
}
