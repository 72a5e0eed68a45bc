// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestIsolation applies the sample of an isolated stack, and then ends its isolation. Tests on a node with containers try the
// connections.
func TestIsolation(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.Kubectl.Run("apply", "--filename="+framework.Sample("isolation.yaml"))
	n.Kubectl.Run("wait", "modelstack/isolated", "--for=condition=Ready", "--timeout=5m")
	awaitPolicies(n, "isolated-api", "isolated-db", "isolated-web")

	n.Kubectl.Run("delete", "networkpolicy/isolated-db")
	awaitPolicies(n, "isolated-api", "isolated-db", "isolated-web")

	n.Kubectl.Run("patch", "modelstack/isolated", "--type=merge", "--patch", `{"spec": {"isolate": false}}`)
	awaitPolicies(n, "isolated-api") // It has a rule of its own.
}

// awaitPolicies waits until the namespace has exactly the NetworkPolicies with the names.
func awaitPolicies(n *framework.Namespace, want ...string) {
	n.T.Helper()
	n.Eventually(fmt.Sprintf("the NetworkPolicies are %q", want), func() error {
		list, err := n.ControlPlane.KubeClient.NetworkingV1().NetworkPolicies(n.Name).List(n.Ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		var names []string
		for _, policy := range list.Items {
			names = append(names, policy.Name)
		}
		if !slices.Equal(names, want) {
			return fmt.Errorf("they are %q", names)
		}
		return nil
	})
}
