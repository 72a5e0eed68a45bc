// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"time"

	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/probe"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/program"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/supervisor"
)

// The paths of sockets are relative to the working directory of etcd and kube-apiserver, because an absolute path may exceed the
// limit of 107 bytes. etcd requires ports, which are part of the names.
const (
	etcdSocket     = "etcd.sock:1"
	etcdPeerSocket = "etcd.sock:2"
)

func (c *Cluster) etcd() supervisor.Part {
	const peerURL = "unix://" + etcdPeerSocket
	const clientURL = "unix://" + etcdSocket
	part := supervisor.Part{
		Name: program.Etcd,
		Path: c.settings.Etcd,
		Dir:  c.Run(),
		Args: []string{
			"--name=localcluster",
			"--data-dir=" + c.Data(),
			"--listen-client-urls=" + clientURL,
			"--advertise-client-urls=" + clientURL,
			"--listen-peer-urls=" + peerURL,
			"--initial-advertise-peer-urls=" + peerURL,
			"--initial-cluster=localcluster=" + peerURL,
			"--log-level=warn",
			// The only member waits for no other votes, and elects itself one to five intervals after its start.
			"--heartbeat-interval=20",
			"--election-timeout=100",
		},
		Ready:     probe.UnixHTTP(c.Run(etcdSocket), "/health"),
		StopGrace: 5 * time.Second,
	}
	if c.settings.Etcd == c.binary {
		part.Args = append([]string{program.Etcd}, part.Args...)
	}
	if !c.settings.EtcdFsync {
		part.Args = append(part.Args, "--unsafe-no-fsync")
	}
	return part
}
