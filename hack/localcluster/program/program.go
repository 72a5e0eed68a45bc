// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package program names the programs of a cluster.
package program

// The names of the programs in localcluster and in ContainerNode, as argv[0] or as the first argument.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Kwok              = "kwok"
	Kubelet           = "kubelet"
	KubeProxy         = "kube-proxy"
)

// The names of separate programs in the directory of localcluster.
const (
	ContainerNode = "containernode"
	Kubectl       = "kubectl"
)
