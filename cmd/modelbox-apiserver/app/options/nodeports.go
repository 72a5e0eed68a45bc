// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"github.com/spf13/pflag"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// NodePortOptions says which node ports the host cluster gives out, which it does not tell itself.
type NodePortOptions struct {
	// Range is what kube-apiserver has in the flag of the same name. Empty: not known.
	Range utilnet.PortRange
}

// NewNodePortOptions returns the defaults of Kubernetes.
func NewNodePortOptions() *NodePortOptions {
	return &NodePortOptions{Range: utilnet.PortRange{Base: 30000, Size: 2768}}
}

// AddFlags adds the flags.
func (o *NodePortOptions) AddFlags(fs *pflag.FlagSet) {
	fs.Var(&o.Range, "service-node-port-range", "The port range of the cluster for Services with NodePort visibility: the value of --service-node-port-range of its kube-apiserver. Example: '30000-32767'. Inclusive at both ends of the range. The server refuses a box with a node port outside of the range. If empty, the server does not check node ports, and the cluster refuses the Service of the box.")
}
