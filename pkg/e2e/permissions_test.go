// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"
)

const serverUser = "system:serviceaccount:modelbox-system:modelbox-apiserver"

// TestServerMayDoNoMore asks for what the server's service account may do in a namespace of a user.
func TestServerMayDoNoMore(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	for _, test := range []struct{ answer, question string }{
		{"yes", "create deployments.apps"},
		{"yes", "patch deployments.apps"},
		{"yes", "delete services"},
		{"yes", "list pods"},
		{"yes", "create events.events.k8s.io"},
		{"yes", "update modelboxes.model.github.com --subresource=finalizers"},
		{"no", "* *"},
		{"no", "get secrets"},
		{"no", "list secrets"},
		{"no", "get configmaps"},
		{"no", "create pods"},
		{"no", "create pods --subresource=exec"},
		{"no", "delete pods"},
		{"no", "create daemonsets.apps"},
		{"no", "deletecollection deployments.apps"},
		{"no", "delete namespaces"},
		{"no", "impersonate users"},
		{"no", "create serviceaccounts --subresource=token"},
		{"no", "create rolebindings.rbac.authorization.k8s.io"},
		{"no", "bind clusterroles.rbac.authorization.k8s.io"},
		{"no", "escalate clusterroles.rbac.authorization.k8s.io"},
		{"no", "update leases.coordination.k8s.io"},
	} {
		t.Run(test.question+": "+test.answer, func(t *testing.T) {
			n := n.in(t)
			arguments := append([]string{"auth", "can-i", "--as=" + serverUser}, strings.Fields(test.question)...)
			run := runKubectl(n.kubectlCommand(arguments...), "")
			if answer := strings.TrimSpace(run.stdout); answer != test.answer {
				t.Errorf("kubectl says %q %s", answer, run.stderr)
			}
		})
	}
}

// TestServerIsNeverForbidden looks through all that the server has asked of the cluster so far.
func TestServerIsNeverForbidden(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.createReady(newBox("web"))
	for _, request := range readAuditLog(t, plane.clusterAuditLog(), `"forbid"`) {
		if request.User.Username == serverUser && request.Annotations["authorization.k8s.io/decision"] == "forbid" {
			t.Errorf("the server may not %s %s: %s", request.Verb, request.RequestURI, request.Annotations["authorization.k8s.io/reason"])
		}
	}
}
