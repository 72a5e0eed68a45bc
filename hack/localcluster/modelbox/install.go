// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package modelbox installs the product into a local cluster: its own manifests,
// its own service account, and its binary as a process of this machine.
package modelbox

import (
	"context"

	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/cluster"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/pki"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/program"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/progress"
)

// What the manifests in artifacts/base call things.
const (
	name       = "modelbox-apiserver"
	namespace  = "modelbox-system"
	apiService = "v1.model.github.com"
)

// Options say what to install.
type Options struct {
	// Server is the path of the product's binary.
	Server string
	// ServerArgs are added to its flags.
	ServerArgs []string
	// Audit lets the server log what it is asked to write.
	Audit bool
	// Artifacts is the folder with the kustomize base and components.
	Artifacts string
	// Components are the names of components to install beside the base.
	Components []string
	// Sample is a manifest to apply in the end; empty for none.
	Sample string
}

// installation is what the steps of one installation share.
type installation struct {
	Options
	cluster *cluster.Cluster
	report  *progress.Reporter
	port    int
	ca      *pki.Authority
}

// Install installs the product and returns when the cluster serves its API.
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

// restartGarbageCollector spares tests the half minute that may pass before the
// controller manager looks for new resources, and until which deleting a box
// leaves its children.
func (in *installation) restartGarbageCollector(ctx context.Context) error {
	return in.cluster.Supervisor.Restart(ctx, program.ControllerManager)
}
