// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"net/netip"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/node"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/pki"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/program"
)

// startContainerNode starts the container node, and waits until it accepts pods.
func (c *Cluster) startContainerNode(ctx context.Context) error {
	if err := c.node.WriteConfig(); err != nil {
		return err
	}
	if err := c.writeNodeKubeconfigs(); err != nil {
		return err
	}
	if err := c.node.RelayAPIServer(c.ports.apiServer); err != nil {
		return err
	}
	if err := c.announceAPIServer(ctx); err != nil {
		return err
	}
	if err := c.Supervisor.Start(ctx, c.node.Sandbox(c.separateProgram(program.ContainerNode))); err != nil {
		return err
	}
	if err := c.importImages(ctx); err != nil {
		return c.Supervisor.BlameOn(node.Name, err)
	}
	if err := c.Supervisor.BlameOn(node.Name, c.awaitContainerNode(ctx)); err != nil {
		return err
	}
	return c.startDNS(ctx)
}

func (c *Cluster) importImages(ctx context.Context) error {
	archives, err := filepath.Glob(filepath.Join(c.settings.Nodes.Images, "*.tar"))
	if err != nil {
		return fmt.Errorf("listing images: %w", err)
	}
	return node.Import(ctx, c.Dir, archives)
}

func (c *Cluster) awaitContainerNode(ctx context.Context) error {
	return Poll(ctx, func() error {
		registered, err := c.Client.CoreV1().Nodes().Get(ctx, node.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		return checkReady(registered)
	})
}

// writeNodeKubeconfigs writes the kubeconfigs of the programs on the node. The API server has another address for them, which is
// not in its certificate.
func (c *Cluster) writeNodeKubeconfigs() error {
	for part, pair := range map[string]pki.Pair{
		program.Kubelet:   c.credentials.kubelet,
		program.KubeProxy: c.credentials.kubeProxy,
	} {
		server := &clientcmdapi.Cluster{
			Server:                   "https://" + c.node.APIServer().String(),
			TLSServerName:            "localhost",
			CertificateAuthorityData: c.credentials.clusterCA.Certificate,
		}
		if err := writeKubeconfig(c.partKubeconfig(part), server, certificateOf(pair)); err != nil {
			return err
		}
	}
	return nil
}

// announceAPIServer sets the endpoint of the service "kubernetes" to the address of the API server for pods.
func (c *Cluster) announceAPIServer(ctx context.Context) error {
	const service = "kubernetes"
	endpoint := c.node.APIServer()
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Name: service, Labels: map[string]string{discoveryv1.LabelServiceName: service}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{endpoint.Addr().String()}}},
		Ports: []discoveryv1.EndpointPort{{
			Name: ptr.To("https"), Protocol: ptr.To(corev1.ProtocolTCP), Port: ptr.To(int32(endpoint.Port())),
		}},
	}
	if _, err := c.Client.DiscoveryV1().EndpointSlices(metav1.NamespaceDefault).Create(ctx, slice, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("announcing the API server to pods: %w", err)
	}
	return nil
}

// NodeAddress returns the address of node ports for this machine, and whether there is one.
func (c *Cluster) NodeAddress() (address netip.Addr, found bool) {
	if c.node == nil {
		return netip.Addr{}, false
	}
	return c.node.Address(), true
}
