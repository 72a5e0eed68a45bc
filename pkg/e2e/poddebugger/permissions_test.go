// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package poddebugger

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/hostcluster/ephemeralcontainer"
	poddebuggerrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/poddebugger"
)

// TestRefusalsAreReportedVerbatim uses a namespace whose Pod Security first refuses the container and then allows it.
func TestRefusalsAreReportedVerbatim(t *testing.T) {
	n := newNamespace(t)
	n.Kubectl.Run("label", "namespace", n.Name, "pod-security.kubernetes.io/enforce=restricted")
	createPods(n, "a", "a-0")
	n.ApplyPodDebugger("tools", ofApp)
	debugger := n.AwaitPodDebugger("tools", "is refused", func(debugger *modelv1.PodDebugger) error {
		return framework.CheckPodDebugger(debugger, modelv1.ConditionApplied, metav1.ConditionFalse, modelv1.ReasonForbidden,
			`pods "a-0" is forbidden: violates PodSecurity "restricted:latest"`)
	})
	pod, err := n.Pods.Get(n.Ctx, "a-0", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	container, err := poddebuggerrender.Container(debugger, pod)
	if err != nil {
		t.Fatal(err)
	}
	_, err = ephemeralcontainer.Add(n.Ctx, n.ControlPlane.KubeClient.CoreV1(), pod, container, metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
	if err == nil {
		t.Fatal("the cluster does not refuse the container")
	}
	framework.ExpectEqual(t, "refused pods", int32(1), debugger.Status.RefusedPods)
	framework.ExpectEqual(t, "the refusal", err.Error(), debugger.Status.Pods[0].Refusal)
	n.Events.AwaitAboutKind("Pod", "a-0", "EphemeralContainerRefused", err.Error())

	n.ApplyPodDebugger("restricted", ofApp+", profile: restricted")
	n.AwaitDebugged("restricted", 1)
	n.Kubectl.Run("label", "namespace", n.Name, "pod-security.kubernetes.io/enforce-")
	n.AwaitDebugged("tools", 1)
}

// TestPermissionsOfTheAuthor checks that a PodDebugger requires the permissions of its author to add containers to pods and to
// restart boxes.
func TestPermissionsOfTheAuthor(t *testing.T) {
	n := newNamespace(t)
	rule := func(group, resource string, verbs ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
	}
	debuggers := rule(modelv1.GroupName, "poddebuggers", "get", "create", "patch", "delete")
	n.Grant("writes", debuggers)
	n.Grant("debugs", debuggers, rule("", "pods/ephemeralcontainers", "patch"))
	n.Grant("restarts", debuggers, rule("", "pods/ephemeralcontainers", "patch"), rule(modelv1.GroupName, "modelboxes/restart", "create"))
	apply := func(user, name, spec string) string {
		run := framework.RunKubectl(n.Kubectl.Command("apply", "--filename=-", "--as="+user), framework.NewPodDebuggerManifest(name, spec))
		if run.Err != nil {
			return run.Stderr
		}
		return ""
	}
	refusal := func(field, user, what, group string) string {
		return fmt.Sprintf("%s: acts on pods, and user %q cannot %s in API group %q in the namespace %q", field, user, what, group, n.Name)
	}
	const restarting = ofApp + ", whenDeleted: RestartBoxes"
	toDebug := refusal("spec", "writes", `patch resource "pods/ephemeralcontainers"`, "")
	for _, row := range []struct{ name, user, debugger, spec, want string }{
		{"who may not debug", "writes", "tools", ofApp, toDebug},
		{"who may", "debugs", "tools", ofApp, ""},
		{"a change by who may not", "writes", "tools", ofApp + ", maxPods: 3", toDebug},
		{"a change by who may", "debugs", "tools", ofApp + ", maxPods: 3", ""},
		{"a restart by who may not", "debugs", "tools", restarting, refusal("spec.whenDeleted", "debugs", `create resource "modelboxes/restart"`, modelv1.GroupName)},
		{"a restart by who may", "restarts", "tools", restarting, ""},
	} {
		if got := apply(row.user, row.debugger, row.spec); !strings.Contains(got, row.want) || (got == "") != (row.want == "") {
			t.Errorf("%s: kubectl says %q, want %q", row.name, got, row.want)
		}
	}
	// A change of the metadata needs no such permission.
	if run := framework.RunKubectl(n.Kubectl.Command("label", "pdbg/tools", "team=shop", "--as=writes"), ""); run.Err != nil {
		t.Errorf("a label: %s", run.Stderr)
	}
}

// TestServerWithoutThePermission checks that the server reports the missing permission, and continues when it has the permission.
func TestServerWithoutThePermission(t *testing.T) {
	n := newNamespace(t)
	n.Kubectl.Run("delete", "--filename="+framework.PodDebuggerManifest())
	n.Eventually("the server may not add ephemeral containers", func() error {
		if run := framework.RunKubectl(n.Kubectl.Command("auth", "can-i", "patch", "pods", "--subresource=ephemeralcontainers", "--as="+framework.ServerUser), ""); run.Err == nil {
			return errStillThere
		}
		return nil
	})
	createPods(n, "a", "a-0", "a-1")
	n.ApplyPodDebugger("tools", ofApp)
	debugger := n.AwaitPodDebugger("tools", "says what is missing", func(debugger *modelv1.PodDebugger) error {
		return framework.CheckPodDebugger(debugger, modelv1.ConditionApplied, metav1.ConditionFalse, modelv1.ReasonForbidden,
			fmt.Sprintf("User %q cannot patch resource %q", framework.ServerUser, "pods/ephemeralcontainers"), "artifacts/components/pod-debugger")
	})
	framework.ExpectEqual(t, "refused pods", int32(0), debugger.Status.RefusedPods)
	n.Events.AwaitAboutKind("PodDebugger", "tools", "Forbidden", "artifacts/components/pod-debugger")
	n.ControlPlane.GrantPodDebugger(t)
	n.AwaitDebugged("tools", 2)
}

// TestClusterRoles checks the permissions of users with only one ClusterRole of Kubernetes or of the server.
func TestClusterRoles(t *testing.T) {
	n := framework.NewNamespace(t)
	for role, allowed := range map[string]string{
		"view":           "get list watch",
		"edit":           "get list watch",
		"modelbox-debug": "get list watch create update patch delete deletecollection",
	} {
		n.Kubectl.Run("create", "rolebinding", role, "--clusterrole="+role, "--user="+role)
		n.Kubectl.AwaitAllowed(role, "get poddebuggers.model.github.com")
		for _, verb := range []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"} {
			want := "no"
			if slices.Contains(strings.Fields(allowed), verb) {
				want = "yes"
			}
			run := framework.RunKubectl(n.Kubectl.Command("auth", "can-i", "--as="+role, verb, "poddebuggers.model.github.com"), "")
			if got := strings.TrimSpace(run.Stdout); got != want {
				t.Errorf("%s may %s: %q, want %q", role, verb, got, want)
			}
		}
	}
}
