// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os"
	"text/template"
)

//go:embed dns.yaml
var dnsManifest string

// startDNS starts the DNS of services for pods. It does not wait until it is ready, because pods retry.
func (c *Cluster) startDNS(ctx context.Context) error {
	parsed, err := template.New("dns.yaml").Parse(dnsManifest)
	if err != nil {
		return fmt.Errorf("reading the manifest of the DNS: %w", err)
	}
	var manifest bytes.Buffer
	if err := parsed.Execute(&manifest, struct{ ClusterIP string }{c.node.DNS().String()}); err != nil {
		return fmt.Errorf("filling in the manifest of the DNS: %w", err)
	}
	path := c.Config("dns.yaml")
	if err := os.WriteFile(path, manifest.Bytes(), 0o644); err != nil {
		return fmt.Errorf("writing the manifest of the DNS: %w", err)
	}
	_, err = c.Kubectl(ctx, "apply", "--server-side", "--filename="+path)
	return err
}
