// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package program names the programs of a cluster.
package program

// The names of the programs in this binary, as argv[0] or as the first argument.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Kwok              = "kwok"
	Kubelet           = "kubelet"
	KubeProxy         = "kube-proxy"
)

// Kubectl is the name of kubectl, a separate program in the directory of this binary.
const Kubectl = "kubectl"
