// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestServerHasNoFurtherPermissions checks the permissions of the service account of the server in a namespace of a user.
func TestServerHasNoFurtherPermissions(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	for _, test := range []struct{ answer, question string }{
		{"yes", "create deployments.apps"},
		{"yes", "patch deployments.apps"},
		{"yes", "delete services"},
		{"yes", "get configmaps"},
		{"yes", "list pods"},
		{"yes", "create events.events.k8s.io"},
		{"yes", "watch events.events.k8s.io"},
		{"no", "delete events.events.k8s.io"},
		{"yes", "update modelboxes.model.github.com --subresource=finalizers"},
		{"yes", "watch resourcequotas"},
		{"yes", "update resourcequotas --subresource=status"},
		{"no", "update resourcequotas"},
		{"no", "* *"},
		{"no", "get secrets"},
		{"no", "list secrets"},
		{"yes", "patch configmaps"},
		{"no", "deletecollection configmaps"},
		{"no", "create pods"},
		{"no", "create pods --subresource=exec"},
		{"no", "patch pods --subresource=ephemeralcontainers"},
		{"yes", "patch pods"},
		{"yes", "delete pods"},
		{"yes", "update pods --subresource=resize"},
		{"no", "update pods"},
		{"yes", "update replicasets.apps"},
		{"no", "delete replicasets.apps"},
		{"yes", "create statefulsets.apps"},
		{"yes", "create daemonsets.apps"},
		{"no", "create replicasets.apps"},
		{"no", "create persistentvolumes"},
		{"no", "deletecollection deployments.apps"},
		{"yes", "patch horizontalpodautoscalers.autoscaling"},
		{"no", "update horizontalpodautoscalers.autoscaling --subresource=status"},
		{"yes", "delete poddisruptionbudgets.policy"},
		{"yes", "delete networkpolicies.networking.k8s.io"},
		{"yes", "create jobs.batch"},
		{"yes", "patch cronjobs.batch"},
		{"no", "update jobs.batch"},
		{"no", "create pods --subresource=eviction"},
		{"no", "delete namespaces"},
		{"no", "impersonate users"},
		{"no", "create serviceaccounts --subresource=token"},
		{"no", "create rolebindings.rbac.authorization.k8s.io"},
		{"no", "bind clusterroles.rbac.authorization.k8s.io"},
		{"no", "escalate clusterroles.rbac.authorization.k8s.io"},
		{"no", "update leases.coordination.k8s.io"},
	} {
		t.Run(test.question+": "+test.answer, func(t *testing.T) {
			n := n.In(t)
			arguments := append([]string{"auth", "can-i", "--as=" + framework.ServerUser}, strings.Fields(test.question)...)
			run := framework.RunKubectl(n.Kubectl.Command(arguments...), "")
			if answer := strings.TrimSpace(run.Stdout); answer != test.answer {
				t.Errorf("kubectl says %q %s", answer, run.Stderr)
			}
		})
	}
}

// TestClusterRolesCoverBoxes checks the permissions on boxes of users with only a ClusterRole of Kubernetes.
func TestClusterRolesCoverBoxes(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	for _, role := range []string{"view", "edit"} {
		n.Kubectl.Run("create", "rolebinding", role, "--clusterrole="+role, "--user="+role)
	}
	for _, test := range []struct{ answer, user, question string }{
		{"yes", "view", "get modelboxes"},
		{"yes", "view", "watch modelboxes.model.github.com"},
		{"yes", "view", "get modelboxes --subresource=scale"},
		{"yes", "view", "get modelboxes --subresource=render"},
		{"yes", "view", "get modelboxes --subresource=history"},
		{"yes", "view", "get modelboxes --subresource=diff"},
		{"no", "view", "create modelboxes --subresource=diff"},
		{"no", "view", "create modelboxes --subresource=restart"},
		{"no", "view", "create modelboxes --subresource=rollback"},
		{"no", "view", "create modelboxes --subresource=debug"},
		{"no", "view", "create modelboxes"},
		{"no", "view", "patch modelboxes --subresource=scale"},
		{"yes", "edit", "list modelboxes"},
		{"yes", "edit", "create modelboxes"},
		{"yes", "edit", "deletecollection modelboxes"},
		{"yes", "edit", "patch modelboxes --subresource=scale"},
		{"yes", "edit", "create modelboxes --subresource=render"},
		{"yes", "edit", "create modelboxes --subresource=diff"},
		{"yes", "edit", "create modelboxes --subresource=restart"},
		{"yes", "edit", "create modelboxes --subresource=rollback"},
		{"yes", "edit", "create modelboxes --subresource=debug"},
		{"no", "edit", "update modelboxes --subresource=status"},
		{"no", "edit", "update modelboxes --subresource=finalizers"},
		{"no", "stranger", "get modelboxes"},
	} {
		t.Run(test.user+": "+test.question+": "+test.answer, func(t *testing.T) {
			n := n.In(t)
			arguments := append([]string{"auth", "can-i", "--as=" + test.user}, strings.Fields(test.question)...)
			// A new binding takes effect after a moment.
			n.Eventually("kubectl says "+test.answer, func() error {
				run := framework.RunKubectl(n.Kubectl.Command(arguments...), "")
				if answer := strings.TrimSpace(run.Stdout); answer != test.answer {
					return fmt.Errorf("kubectl says %q %s", answer, run.Stderr)
				}
				return nil
			})
		})
	}
}

// TestServerIsNeverForbidden checks all requests of the server to the cluster so far. It ignores requests for which the tests of
// PodDebuggers remove the permission.
func TestServerIsNeverForbidden(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web"))
	for _, request := range framework.ReadAuditLog(t, n.ControlPlane.ClusterAuditLog(), `"forbid"`) {
		if request.ObjectRef != nil && request.ObjectRef.Subresource == "ephemeralcontainers" {
			continue
		}
		if request.User.Username == framework.ServerUser && request.Annotations["authorization.k8s.io/decision"] == "forbid" {
			t.Errorf("the server may not %s %s: %s", request.Verb, request.RequestURI, request.Annotations["authorization.k8s.io/reason"])
		}
	}
}
