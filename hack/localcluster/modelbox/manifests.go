// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// kustomization changes the manifests for a server that runs outside of the cluster: it removes the Deployment, which would be
// simulated, and routes the Service to this machine.
const kustomization = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- %[1]s
components: [%[7]s]
patches:
- target:
    kind: Deployment|PersistentVolumeClaim
    namespace: %[3]s
  patch: |
    $patch: delete
    apiVersion: unused
    kind: unused
    metadata:
      name: unused
- target:
    kind: Service
    name: %[2]s
  patch: |
    - op: replace
      path: /spec
      value:
        type: ExternalName
        externalName: localhost
- target:
    kind: APIService
    name: %[4]s
  patch: |
    apiVersion: apiregistration.k8s.io/v1
    kind: APIService
    metadata:
      name: %[4]s
    spec:
      caBundle: %[5]s
      insecureSkipTLSVerify: null
      service:
        port: %[6]d
`

func (in *installation) applyManifests(ctx context.Context) error {
	base, err := in.relativePath(filepath.Join(in.Artifacts, "base"))
	if err != nil {
		return err
	}
	var components []string
	for _, component := range in.Components {
		path, err := in.relativePath(ComponentPath(in.Artifacts, component))
		if err != nil {
			return err
		}
		components = append(components, path)
	}
	caBundle := base64.StdEncoding.EncodeToString(in.ca.Certificate)
	content := fmt.Sprintf(kustomization, base, name, namespace, apiService, caBundle, in.port, strings.Join(components, ", "))
	if err := os.WriteFile(in.cluster.Manifests("kustomization.yaml"), []byte(content), 0o644); err != nil {
		return fmt.Errorf("writing the kustomization: %w", err)
	}
	_, err = in.cluster.Kubectl(ctx, "apply", "--server-side", "--kustomize="+in.cluster.Manifests())
	return err
}

// ComponentPath returns the directory of a component of the artifacts.
func ComponentPath(artifacts, component string) string {
	return filepath.Join(artifacts, "components", component)
}

// relativePath returns the path of a directory relative to the kustomization, because kustomize refuses absolute paths.
func (in *installation) relativePath(folder string) (string, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return "", fmt.Errorf("resolving the manifests' path: %w", err)
	}
	// kustomize resolves symbolic links before "..".
	folder, err = filepath.EvalSymlinks(folder)
	if err != nil {
		return "", fmt.Errorf("finding the manifests: %w", err)
	}
	from, err := filepath.EvalSymlinks(in.cluster.Manifests())
	if err != nil {
		return "", fmt.Errorf("finding the cluster's folder: %w", err)
	}
	return filepath.Rel(from, folder)
}

// kubectlTimeout returns the remaining time of ctx as a flag of kubectl.
func kubectlTimeout(ctx context.Context) string {
	deadline, limited := ctx.Deadline()
	if !limited {
		return "0s"
	}
	return max(time.Until(deadline), time.Second).Round(time.Second).String()
}
