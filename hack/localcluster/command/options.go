// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/cluster"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/modelbox"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/node"
)

// options are the flags of run and up.
type options struct {
	dir        string
	server     string
	serverArgs []string
	artifacts  string
	components []string
	sample     string
	settings   cluster.Settings
	timeout    time.Duration
}

const dirUsage = "folder for everything the cluster writes; several clusters, several folders"

const defaultDir = "_output/local"

func (o *options) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.dir, "dir", defaultDir, dirUsage)
	flags.StringVar(&o.server, "server", "_output/bin/modelbox-apiserver", "the modelbox-apiserver binary to run in the cluster; empty for a plain cluster")
	flags.StringArrayVar(&o.serverArgs, "server-arg", nil, "one more argument for the server, such as --server-arg=--v=4; may be repeated")
	flags.StringVar(&o.artifacts, "artifacts", "artifacts", "folder with the server's manifests, of which base/ is installed")
	flags.StringArrayVar(&o.components, "component", nil, "one more folder of components/ of the manifests to install, such as --component=pod-debugger, for the rights that it grants; set the flags of the server with --server-arg; may be repeated")
	flags.StringVar(&o.sample, "sample", "", "manifest to apply, and wait for, once the server is installed")
	flags.IntVar(&o.settings.Nodes.Simulated, "nodes", 2, "how many simulated nodes to create; beside a container node they are tainted "+cluster.SimulatedTaint)
	flags.BoolVar(&o.settings.Nodes.Container, "container-node", false, "also start a node that runs containers; needs what check says")
	flags.StringVar(&o.settings.Nodes.Images, "images", "_output/images/node", "folder with OCI archives of the images that the container node starts with, its pause image among them")
	flags.StringVar(&o.settings.Host, "host-binary", "", "the program that is kube-apiserver, kube-controller-manager and kube-scheduler of another Kubernetes, such as those that hack/hosts is built into; empty for this one")
	flags.StringVar(&o.settings.Etcd, "etcd-binary", "", "the program that is etcd of the cluster; empty for this one")
	flags.BoolVar(&o.settings.EtcdFsync, "etcd-fsync", false, "let etcd of the cluster wait for the disk at every write")
	flags.BoolVar(&o.settings.Audit, "audit", true, "write audit logs of what the server requests and of what it is asked to write")
	flags.IntVar(&o.settings.ControllerQPS, "controller-qps", cluster.DefaultControllerQPS, "how many requests a second the controller manager and the scheduler send at most")
	flags.DurationVar(&o.timeout, "timeout", 3*time.Minute, "how long the start may take")
}

// asArgs returns the options as arguments. It is the inverse of addFlags.
func (o *options) asArgs() []string {
	args := []string{
		"--dir=" + o.dir,
		"--server=" + o.server,
		"--artifacts=" + o.artifacts,
		"--sample=" + o.sample,
		fmt.Sprintf("--nodes=%d", o.settings.Nodes.Simulated),
		fmt.Sprintf("--container-node=%t", o.settings.Nodes.Container),
		"--images=" + o.settings.Nodes.Images,
		"--host-binary=" + o.settings.Host,
		"--etcd-binary=" + o.settings.Etcd,
		fmt.Sprintf("--etcd-fsync=%t", o.settings.EtcdFsync),
		fmt.Sprintf("--audit=%t", o.settings.Audit),
		fmt.Sprintf("--controller-qps=%d", o.settings.ControllerQPS),
		fmt.Sprintf("--timeout=%s", o.timeout),
	}
	for _, component := range o.components {
		args = append(args, "--component="+component)
	}
	for _, arg := range o.serverArgs {
		args = append(args, "--server-arg="+arg)
	}
	return args
}

// validate detects errors before the start, which would otherwise fail after half a minute.
func (o *options) validate() error {
	if o.settings.Nodes.Simulated < 0 || o.settings.Nodes.Simulated > cluster.MaxNodes {
		return fmt.Errorf("--nodes=%d: must be 0 to %d", o.settings.Nodes.Simulated, cluster.MaxNodes)
	}
	if o.settings.Nodes.Container {
		if err := node.Check(); err != nil {
			return err
		}
		if _, err := os.Stat(o.settings.Nodes.Images); err != nil {
			return fmt.Errorf("--images: %w", err)
		}
	}
	if o.settings.Host != "" {
		if o.settings.Nodes.Container {
			return errors.New("--host-binary: a node that runs containers has the kubelet of this program, which another Kubernetes may be too old for")
		}
		if _, err := os.Stat(o.settings.Host); err != nil {
			return fmt.Errorf("--host-binary: %w", err)
		}
	}
	if o.settings.Etcd != "" {
		if _, err := os.Stat(o.settings.Etcd); err != nil {
			return fmt.Errorf("--etcd-binary: %w", err)
		}
	}
	if o.settings.ControllerQPS <= 0 {
		return fmt.Errorf("--controller-qps=%d: must be above 0", o.settings.ControllerQPS)
	}
	if o.server == "" {
		if o.sample != "" {
			return fmt.Errorf("--sample=%s: needs --server", o.sample)
		}
		return nil
	}
	files := map[string]string{"--server": o.server, "--artifacts": o.artifacts}
	if o.sample != "" {
		files["--sample"] = o.sample
	}
	for _, component := range o.components {
		files["--component="+component] = modelbox.ComponentPath(o.artifacts, component)
	}
	for flag, file := range files {
		if _, err := os.Stat(file); err != nil {
			return fmt.Errorf("%s: %w", flag, err)
		}
	}
	return nil
}
