// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"github.com/spf13/pflag"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apiserver"
)

// ClusterOptions says how the cluster is set up that the children of boxes are in, where it does not tell itself.
type ClusterOptions struct {
	// ServiceNodePortRange is what kube-apiserver has in the flag of the same name. Empty: not known.
	ServiceNodePortRange utilnet.PortRange
}

// NewClusterOptions returns the defaults of Kubernetes.
func NewClusterOptions() *ClusterOptions {
	return &ClusterOptions{ServiceNodePortRange: utilnet.PortRange{Base: 30000, Size: 2768}}
}

// AddFlags adds the flags.
func (o *ClusterOptions) AddFlags(fs *pflag.FlagSet) {
	fs.Var(&o.ServiceNodePortRange, "service-node-port-range", "The port range of the cluster for Services with NodePort visibility: the value of --service-node-port-range of its kube-apiserver. Example: '30000-32767'. Inclusive at both ends of the range. The server refuses a box with a node port outside of the range. If empty, the server does not check node ports, and the cluster refuses the Service of the box.")
}

// ApplyTo adds the options to the configuration of the server.
func (o *ClusterOptions) ApplyTo(config *apiserver.ExtraConfig) {
	config.NodePortRange = o.ServiceNodePortRange
}
