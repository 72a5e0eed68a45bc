// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

// Settings are what can be chosen about a cluster.
type Settings struct {
	Nodes Nodes
	// Host is the program that is kube-apiserver, kube-controller-manager and
	// kube-scheduler; empty for this one.
	Host string
	// Etcd is the program that is etcd; empty for this one.
	Etcd string
	// EtcdFsync lets etcd wait for the disk at every write, as it does where the
	// data has to outlive the machine.
	EtcdFsync bool
	// Audit records what the product asks of the cluster, and is asked for.
	Audit bool
	// ControllerQPS is how many requests a second the controller manager and the
	// scheduler send at most, and twice as many at once.
	ControllerQPS int
}
