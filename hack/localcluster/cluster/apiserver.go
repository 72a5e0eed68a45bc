// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/probe"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/program"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/supervisor"
)

const (
	frontProxyUser = "front-proxy-client"
	tokenIssuer    = "https://kubernetes.default.svc.cluster.local"
)

// auditPolicy only logs the requests of the product to the cluster, so that tests can count them. It logs a write twice, because
// its effect can be visible before its end is logged, and tests must know the writes in progress.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- level: Metadata
  users:
  - system:serviceaccount:modelbox-system:modelbox-apiserver
  verbs: [get, list, watch]
  omitStages: [RequestReceived]
- level: Metadata
  users:
  - system:serviceaccount:modelbox-system:modelbox-apiserver
- level: None
`

func (c *Cluster) startAPIServer(ctx context.Context) error {
	part := c.apiServer()
	if c.settings.Audit {
		if err := os.WriteFile(c.Config("audit-policy.yaml"), []byte(auditPolicy), 0o644); err != nil {
			return fmt.Errorf("writing the audit policy: %w", err)
		}
		part.Args = append(part.Args,
			"--audit-policy-file="+c.Config("audit-policy.yaml"),
			"--audit-log-path="+c.Logs("audit.log"),
			"--audit-log-maxsize=0", // tests could not count requests in a rotated log
		)
	}
	return c.Supervisor.Start(ctx, part)
}

func (c *Cluster) apiServer() supervisor.Part {
	return supervisor.Part{
		Name: program.APIServer,
		Path: c.settings.Host,
		Dir:  c.Run(), // the directory of the socket of etcd
		Args: []string{
			program.APIServer,
			"--etcd-servers=unix://" + etcdSocket,

			"--bind-address=127.0.0.1",
			fmt.Sprintf("--secure-port=%d", c.ports.apiServer),
			"--permit-port-sharing", // with the socket that reserves the port
			"--tls-cert-file=" + c.PKI("kube-apiserver.crt"),
			"--tls-private-key-file=" + c.PKI("kube-apiserver.key"),
			"--client-ca-file=" + c.PKI("ca.crt"),

			"--authorization-mode=Node,RBAC",
			"--enable-admission-plugins=NodeRestriction",
			"--service-account-issuer=" + tokenIssuer,
			"--service-account-key-file=" + c.PKI("service-account.pub"),
			"--service-account-signing-key-file=" + c.PKI("service-account.key"),
			"--allow-privileged",

			"--requestheader-client-ca-file=" + c.PKI("front-proxy-ca.crt"),
			"--requestheader-allowed-names=" + frontProxyUser,
			"--requestheader-username-headers=X-Remote-User",
			"--requestheader-group-headers=X-Remote-Group",
			"--requestheader-extra-headers-prefix=X-Remote-Extra-",
			"--proxy-client-cert-file=" + c.PKI("front-proxy.crt"),
			"--proxy-client-key-file=" + c.PKI("front-proxy.key"),
			"--enable-aggregator-routing=false",

			"--kubelet-client-certificate=" + c.PKI("kubelet-client.crt"),
			"--kubelet-client-key=" + c.PKI("kubelet-client.key"),
			"--kubelet-preferred-address-types=InternalIP", // names of nodes do not resolve

			"--service-cluster-ip-range=" + c.services.String(),
			// A loopback address cannot be an endpoint of the service "kubernetes". Simulated pods do not need it. For containers,
			// it gets another endpoint.
			"--endpoint-reconciler-type=none",
		},
		Ready: probe.HTTPS(c.ports.apiServer, "/readyz", c.credentials.clusterCA.Certificate),
		// Do not wait for open watches of users.
		StopGrace: 3 * time.Second,
	}
}
