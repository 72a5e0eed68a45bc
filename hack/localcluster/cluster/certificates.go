// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"net/netip"
	"os"

	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/node"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/pki"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/workdir"
)

// credentials are the keys and certificates of one cluster.
type credentials struct {
	clusterCA, frontProxyCA *pki.Authority

	apiServer pki.Pair // serving certificate of kube-apiserver
	loopback  pki.Pair // serving certificate of the other parts

	// The client certificates. kubeletClient is for kube-apiserver.
	admin, controllerManager, scheduler, kwok, frontProxy pki.Pair
	kubelet, kubeletClient, kubeProxy                     pki.Pair

	serviceAccounts pki.SigningKey
}

func issueCredentials(firstServiceIP netip.Addr) (*credentials, error) {
	var c credentials
	var err error
	if c.clusterCA, err = pki.NewAuthority("localcluster-ca"); err != nil {
		return nil, err
	}
	// This CA is separate from the CA of the cluster, so that clients with a certificate of the cluster cannot act for other users
	// like the front proxy.
	if c.frontProxyCA, err = pki.NewAuthority("localcluster-front-proxy-ca"); err != nil {
		return nil, err
	}
	if c.serviceAccounts, err = pki.NewSigningKey(); err != nil {
		return nil, err
	}
	if err := c.issueServers(firstServiceIP); err != nil {
		return nil, err
	}
	if err := c.issueClients(); err != nil {
		return nil, err
	}
	return &c, nil
}

func (c *credentials) issueServers(firstServiceIP netip.Addr) error {
	for _, server := range []struct {
		pair  *pki.Pair
		name  string
		hosts []string
	}{
		{&c.apiServer, "kube-apiserver", []string{
			"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
			"localhost", "127.0.0.1", firstServiceIP.String(),
		}},
		{&c.loopback, "localcluster", []string{"localhost", "127.0.0.1"}},
	} {
		var err error
		if *server.pair, err = c.clusterCA.IssueServer(server.name, server.hosts...); err != nil {
			return err
		}
	}
	return nil
}

func (c *credentials) issueClients() error {
	for _, client := range []struct {
		pair   *pki.Pair
		issuer *pki.Authority
		user   string
		groups []string
	}{
		{&c.admin, c.clusterCA, "kubernetes-admin", []string{"system:masters"}},
		{&c.controllerManager, c.clusterCA, "system:kube-controller-manager", nil},
		{&c.scheduler, c.clusterCA, "system:kube-scheduler", nil},
		// KWOK acts for all nodes, which no built-in role allows. As a member of this group, its many small writes also do not wait
		// in a queue.
		{&c.kwok, c.clusterCA, "kwok", []string{"system:masters"}},
		{&c.kubelet, c.clusterCA, "system:node:" + node.Name, []string{"system:nodes"}},
		{&c.kubeletClient, c.clusterCA, "kube-apiserver-kubelet-client", []string{"system:masters"}},
		{&c.kubeProxy, c.clusterCA, "system:kube-proxy", nil},
		{&c.frontProxy, c.frontProxyCA, frontProxyUser, nil},
	} {
		var err error
		if *client.pair, err = client.issuer.IssueClient(client.user, client.groups...); err != nil {
			return err
		}
	}
	return nil
}

// write writes the files for the flags of the parts.
func (c *credentials) write(d workdir.Dir) error {
	for name, content := range map[string][]byte{
		"ca.crt":              c.clusterCA.Certificate,
		"ca.key":              c.clusterCA.Key,
		"front-proxy-ca.crt":  c.frontProxyCA.Certificate,
		"kube-apiserver.crt":  c.apiServer.Certificate,
		"kube-apiserver.key":  c.apiServer.Key,
		"loopback.crt":        c.loopback.Certificate,
		"loopback.key":        c.loopback.Key,
		"kubelet-client.crt":  c.kubeletClient.Certificate,
		"kubelet-client.key":  c.kubeletClient.Key,
		"front-proxy.crt":     c.frontProxy.Certificate,
		"front-proxy.key":     c.frontProxy.Key,
		"service-account.key": c.serviceAccounts.Private,
		"service-account.pub": c.serviceAccounts.Public,
	} {
		if err := os.WriteFile(d.PKI(name), content, 0o600); err != nil {
			return fmt.Errorf("writing credentials: %w", err)
		}
	}
	return nil
}
