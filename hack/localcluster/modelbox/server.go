// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/probe"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/supervisor"
)

// auditPolicy logs the beginning and the end of every write to the server, like the audit policy of the cluster.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- level: Metadata
  verbs: [create, update, patch, delete, deletecollection]
- level: None
`

func (in *installation) startServer(ctx context.Context) error {
	binary, err := filepath.Abs(in.Server)
	if err != nil {
		return fmt.Errorf("resolving the server's path: %w", err)
	}
	serving, err := in.ca.IssueServer(name, name+"."+namespace+".svc", "localhost", "127.0.0.1")
	if err != nil {
		return err
	}
	for file, content := range map[string][]byte{
		"ca.crt":            in.ca.Certificate,
		"tls.crt":           serving.Certificate,
		"tls.key":           serving.Key,
		"audit-policy.yaml": []byte(auditPolicy),
	} {
		if err := os.WriteFile(in.cluster.ModelBox(file), content, 0o600); err != nil {
			return fmt.Errorf("writing the server's files: %w", err)
		}
	}
	return in.cluster.Supervisor.Start(ctx, in.server(binary))
}

func (in *installation) server(binary string) supervisor.Part {
	files := in.cluster.ModelBox
	part := supervisor.Part{
		Name: name,
		Path: binary,
		Dir:  in.cluster.ModelBox(),
		Env:  []string{"POD_NAMESPACE=" + namespace},
		Args: []string{
			"--kubeconfig=" + in.kubeconfig(),
			"--authentication-kubeconfig=" + in.kubeconfig(),
			"--authorization-kubeconfig=" + in.kubeconfig(),
			"--bind-address=127.0.0.1",
			fmt.Sprintf("--secure-port=%d", in.port),
			"--permit-port-sharing", // with the socket that reserves the port
			"--tls-cert-file=" + files("tls.crt"),
			"--tls-private-key-file=" + files("tls.key"),
			"--data-dir=" + files("data"),
		},
		Ready: probe.HTTPS(in.port, "/readyz", in.ca.Certificate),
		// The server needs time to close its database gracefully.
		StopGrace: 15 * time.Second,
	}
	if in.Audit {
		part.Args = append(part.Args,
			"--audit-policy-file="+files("audit-policy.yaml"),
			"--audit-log-path="+in.cluster.Logs("modelbox-audit.log"),
			"--audit-log-maxsize=0", // tests could not count requests in a rotated log
		)
	}
	part.Args = append(part.Args, in.ServerArgs...)
	return part
}
