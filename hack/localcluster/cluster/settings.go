// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

// Settings are the settings of a cluster.
type Settings struct {
	Nodes Nodes
	// Host is the path of the program with kube-apiserver, kube-controller-manager and kube-scheduler, empty for this program.
	Host string
	// Etcd is the path of etcd, empty for this program.
	Etcd string
	// EtcdFsync makes etcd sync every write to the disk, as in production.
	EtcdFsync bool
	// Audit enables audit logs of the requests of the product to the cluster, and of the requests to the product.
	Audit bool
	// ControllerQPS is the maximum number of requests a second of the controller manager and the scheduler. The burst is twice as
	// large.
	ControllerQPS int
}
