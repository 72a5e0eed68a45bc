// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"net"
	"time"

	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/probe"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/program"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/supervisor"
)

// self is the path of this program, which also works if its directory is hidden.
const self = "/proc/self/exe"

// The default addresses of the health checks of the programs.
const (
	kubeletHealth   = "http://127.0.0.1:10248/healthz"
	kubeProxyHealth = "http://127.0.0.1:10256/livez"
)

func start(ctx context.Context, programs *supervisor.Supervisor, address net.IP) error {
	if err := programs.Start(ctx, containerd()); err != nil {
		return err
	}
	return programs.Start(ctx, kubelet(address), kubeProxy())
}

func containerd() supervisor.Part {
	return supervisor.Part{
		Name:      "containerd",
		Path:      "containerd",
		Args:      []string{"--config=" + Dir + "/node/config/containerd.toml"},
		Ready:     probe.Unix(ContainerdSocket),
		StopGrace: 3 * time.Second,
	}
}

func kubelet(address net.IP) supervisor.Part {
	return supervisor.Part{
		Name: program.Kubelet,
		Path: self,
		Args: []string{
			program.Kubelet,
			"--config=" + Dir + "/node/config/kubelet.yaml",
			"--kubeconfig=" + Dir + "/config/kubelet.kubeconfig",
			"--root-dir=" + Dir + "/node/kubelet",
			"--cert-dir=/run/kubelet-pki",
			"--hostname-override=" + NodeName,
			"--node-ip=" + address.String(),
		},
		Ready:     probe.HTTP(kubeletHealth),
		StopGrace: 3 * time.Second,
	}
}

func kubeProxy() supervisor.Part {
	return supervisor.Part{
		Name: program.KubeProxy,
		Path: self,
		Args: []string{
			program.KubeProxy,
			"--config=" + Dir + "/node/config/kube-proxy.yaml",
			"--hostname-override=" + NodeName,
		},
		Ready:     probe.HTTP(kubeProxyHealth),
		StopGrace: 3 * time.Second,
	}
}
