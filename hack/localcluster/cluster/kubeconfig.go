// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/component"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/pki"
)

// WriteKubeconfig writes a kubeconfig for this cluster, usable from any folder.
func (c *Cluster) WriteKubeconfig(file string, user *clientcmdapi.AuthInfo) error {
	const name = "localcluster"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: c.URL(), CertificateAuthorityData: c.credentials.clusterCA.Certificate}
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
		c.partKubeconfig(component.ControllerManager): c.credentials.controllerManager,
		c.partKubeconfig(component.Scheduler):         c.credentials.scheduler,
		c.partKubeconfig(component.Kwok):              c.credentials.kwok,
	} {
		user := &clientcmdapi.AuthInfo{ClientCertificateData: pair.Certificate, ClientKeyData: pair.Key}
		if err := c.WriteKubeconfig(file, user); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) partKubeconfig(part string) string { return c.Config(part + ".kubeconfig") }
