// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"fmt"
	"io"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestPermissionsForLogs checks that reading the logs of a box requires the permission for the logs of the box and of its pods, and
// that the server has the permission. Allowed requests reach the kubelet, which a simulated node does not have. The test is not
// parallel, because all tests share the permissions of the server.
func TestPermissionsForLogs(t *testing.T) {
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web", framework.WithReplicas(2)))
	pods, err := n.LivePods("web")
	if err != nil {
		t.Fatal(err)
	}
	n.SubresourceUsers("log", "get")
	ofBox := rbacv1.PolicyRule{Verbs: []string{"get"}, APIGroups: []string{modelv1.GroupName}, Resources: []string{"modelboxes/log"}}
	ofPods := rbacv1.PolicyRule{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods/log"}}
	n.Grant("all-but-log", ofPods)
	n.Grant("both-log", ofBox, ofPods)
	n.Grant("one-pod-log", ofBox)
	n.Kubectl.Run("create", "role", "one-pod-log", "--verb=get", "--resource=pods/log", "--resource-name="+pods[0].Name)
	n.Kubectl.Run("create", "rolebinding", "one-pod-log", "--role=one-pod-log", "--user=one-pod-log")
	n.Kubectl.AwaitAllowed("one-pod-log", "get pods/"+pods[0].Name+" --subresource=log")

	read := func(user string, options modelv1.ModelBoxLogOptions) string {
		stream, err := n.OpenLogs(n.Ctx, n.ControlPlane.ConfigAs(user), "web", &options)
		if err != nil {
			return err.Error()
		}
		defer stream.Close()
		text, err := io.ReadAll(stream)
		if err != nil {
			t.Errorf("reading as %s: %v", user, err)
		}
		return string(text)
	}
	if got, want := read("", modelv1.ModelBoxLogOptions{}), "artifacts/components/pod-access"; !strings.Contains(got, want) {
		t.Errorf("before the server may: %q, want %q", got, want)
	}
	n.ControlPlane.GrantPodAccess(t)
	n.Kubectl.RunAtEnd("delete", "--filename="+framework.PodAccessManifest())
	forbidden := func(user, resource, group string) string {
		return fmt.Sprintf("User %q cannot get resource %q in API group %q in the namespace %q", user, resource, group, n.Name)
	}
	for _, test := range []struct {
		name, user string
		options    modelv1.ModelBoxLogOptions
		want       string
	}{
		{"who has everything but the subresource", "all-but-log", modelv1.ModelBoxLogOptions{}, forbidden("all-but-log", "modelboxes/log", "model.github.com")},
		{"who has only the subresource", "only-log", modelv1.ModelBoxLogOptions{}, forbidden("only-log", "pods/log", "")},
		{"who has only the subresource, and follows", "only-log", modelv1.ModelBoxLogOptions{Follow: true}, forbidden("only-log", "pods/log", "")},
		{"a user with the permission on another pod", "one-pod-log", modelv1.ModelBoxLogOptions{Pod: pods[1].Name}, forbidden("one-pod-log", "pods/log", "")},
		{"a user with the permission on one pod", "one-pod-log", modelv1.ModelBoxLogOptions{}, kubeletPort},
		{"who has both", "both-log", modelv1.ModelBoxLogOptions{}, kubeletPort},
		{"what is no pod of the box", "both-log", modelv1.ModelBoxLogOptions{Pod: "none"}, `pods "none" not found`},
		{"bad options", "both-log", modelv1.ModelBoxLogOptions{TailLines: new(int64(-1))}, "tailLines: Invalid value: -1"},
	} {
		if got := read(test.user, test.options); !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}
