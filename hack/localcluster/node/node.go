// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package node starts a node that runs containers, from the machine.
package node

import (
	"embed"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"text/template"
	"time"

	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/cgroup"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/sandbox"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/supervisor"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/workdir"
)

const (
	// Name is the name of the node and of its sandbox.
	Name = sandbox.NodeName

	pauseImage    = "docker.io/localcluster/pause:1"
	apiServerPort = 6443

	// dnsNumber is the number of the address in the range of services. The first address is of the API server.
	dnsNumber = 10
)

// Node is one node, running or to be started.
type Node struct {
	dir     workdir.Dir
	network network
	lock    net.Listener // keeps others from the network's addresses
}

// New returns the node of the cluster in a directory, with addresses that are unique on the machine.
func New(dir workdir.Dir) (*Node, error) {
	network, lock, err := reserveNetwork("lc-" + dir.ID())
	if err != nil {
		return nil, err
	}
	return &Node{dir: dir, network: network, lock: lock}, nil
}

// Address returns the address of the node and of node ports for the machine.
func (n *Node) Address() netip.Addr { return n.network.node }

// Services returns the range of the addresses of services. The machine can reach them as well.
func (n *Node) Services() netip.Prefix { return n.network.services }

// DNS returns the address of the service for DNS.
func (n *Node) DNS() netip.Addr {
	address := n.network.services.Addr()
	for range dnsNumber {
		address = address.Next()
	}
	return address
}

// APIServer returns the address of the API server for the node and its pods.
func (n *Node) APIServer() netip.AddrPort {
	return netip.AddrPortFrom(n.network.machine, apiServerPort)
}

// Sandbox returns the part that runs all programs of the node. binary is the path of program.ContainerNode.
func (n *Node) Sandbox(binary string) supervisor.Part {
	return supervisor.Part{
		Name:       Name,
		Path:       binary,
		Args:       []string{"--dir=" + string(n.dir)},
		Namespaces: sandbox.Namespaces,
		Started:    n.network.connect,
		Ready:      n.runtimeReady,
		StopGrace:  15 * time.Second,
	}
}

// Disconnect removes the network of the node from the machine, and releases its addresses.
func (n *Node) Disconnect() error {
	return errors.Join(n.network.disconnect(), n.lock.Close())
}

//go:embed config
var templates embed.FS

// WriteConfig writes the configuration of the programs of the node.
func (n *Node) WriteConfig() error {
	plugins, err := pluginFolder(pluginFolders)
	if err != nil {
		return err
	}
	values := map[string]string{
		"Dir":              sandbox.Dir,
		"ContainerdSocket": sandbox.ContainerdSocket,
		"PauseImage":       pauseImage,
		"CNIPlugins":       plugins,
		"Pods":             n.network.pods.String(),
		"Address":          n.network.node.String(),
		"DNS":              n.DNS().String(),
		"Cgroup":           cgroup.Path(n.dir.ID()),
		"Daemons":          cgroup.Daemons(n.dir.ID()),
	}
	parsed, err := template.New("").Option("missingkey=error").ParseFS(templates, "config/*")
	if err != nil {
		return fmt.Errorf("reading the node's configuration: %w", err)
	}
	if err := os.MkdirAll(n.dir.Node("config"), 0o755); err != nil {
		return fmt.Errorf("creating the folder for the node's configuration: %w", err)
	}
	for _, configuration := range parsed.Templates() {
		if err := writeTemplate(n.dir.Node("config", configuration.Name()), configuration, values); err != nil {
			return fmt.Errorf("writing the node's configuration: %w", err)
		}
	}
	return nil
}

func writeTemplate(path string, configuration *template.Template, values map[string]string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return configuration.Execute(file, values)
}
