// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/pki"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/program"
)

// WriteKubeconfig writes a kubeconfig for this cluster, usable from any folder.
func (c *Cluster) WriteKubeconfig(file string, user *clientcmdapi.AuthInfo) error {
	server := &clientcmdapi.Cluster{Server: c.URL(), CertificateAuthorityData: c.credentials.clusterCA.Certificate}
	return writeKubeconfig(file, server, user)
}

func writeKubeconfig(file string, server *clientcmdapi.Cluster, user *clientcmdapi.AuthInfo) error {
	const name = "localcluster"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = server
	config.AuthInfos[name] = user
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		return fmt.Errorf("writing a kubeconfig: %w", err)
	}
	return nil
}

func (c *Cluster) writeKubeconfigs() error {
	for file, pair := range map[string]pki.Pair{
		c.Kubeconfig(): c.credentials.admin,
		c.partKubeconfig(program.ControllerManager): c.credentials.controllerManager,
		c.partKubeconfig(program.Scheduler):         c.credentials.scheduler,
		c.partKubeconfig(program.Kwok):              c.credentials.kwok,
	} {
		if err := c.WriteKubeconfig(file, certificateOf(pair)); err != nil {
			return err
		}
	}
	return nil
}

func certificateOf(user pki.Pair) *clientcmdapi.AuthInfo {
	return &clientcmdapi.AuthInfo{ClientCertificateData: user.Certificate, ClientKeyData: user.Key}
}

func (c *Cluster) partKubeconfig(part string) string { return c.Config(part + ".kubeconfig") }
