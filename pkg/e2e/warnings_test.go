// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"
)

// TestWarnings reads what kubectl shows of the warning header.
func TestWarnings(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.kubectlWith(boxManifest("image: 'nginx:1.7.9', replicas: 2, minReadySeconds: 0, ports: [{port: 80}]"), "apply", "--filename=-")
	n.awaitReady("web")
	other := strings.Replace(boxManifest("image: 'nginx:1.7.9', ports: [{port: 80, nodePort: 31999}]"), "name: web", "name: other", 1)
	n.kubectlWith(other, "apply", "--filename=-")

	const spec = "replicas: 2, minReadySeconds: 0, "
	for _, test := range []struct{ name, spec, want string }{
		{"another image replaces every pod", spec + "image: 'nginx:1.8', ports: [{port: 80}]", "rolls 2 pods"},
		{"an image without a tag is a moving one", spec + "image: nginx, ports: [{port: 80}]", `spec.image: "nginx" has no tag`},
		{"the tag latest moves", spec + "image: 'nginx:latest', ports: [{port: 80}]", `spec.image: the tag "latest" moves`},
		{"a Service type without ports does nothing", spec + "image: 'nginx:1.7.9', serviceType: NodePort", "spec.serviceType: has no effect without ports"},
		{"a node port that another box asks for", spec + "image: 'nginx:1.7.9', ports: [{port: 80, nodePort: 31999}]", "spec.ports[0].nodePort: 31999/TCP is asked for by ModelBox other"},
		{"more replicas replace no pod", "minReadySeconds: 0, replicas: 3, image: 'nginx:1.7.9', ports: [{port: 80}]", ""},
		{"another port of the Service replaces no pod", spec + "image: 'nginx:1.7.9', ports: [{port: 81, targetPort: 80}]", ""},
		{"an image with a digest does not move", spec + "image: 'nginx@sha256:" + strings.Repeat("a", 64) + "', ports: [{port: 80}]", "rolls 2 pods"},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := n.in(t)
			run := runKubectl(n.kubectlCommand("apply", "--dry-run=server", "--filename=-"), boxManifest(test.spec))
			if run.err != nil {
				t.Fatal(run.stderr)
			}
			if test.want == "" && run.stderr != "" || !strings.Contains(run.stderr, test.want) {
				t.Errorf("want %q, got:\n%s", test.want, run.stderr)
			}
		})
	}
}
