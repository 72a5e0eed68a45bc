// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/tools/remotecommand"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// kubeletPort is the port of the kubelet of a node.
const kubeletPort = ":10250"

// TestPermissionsForStreams checks that a connection to a pod of a box requires the permission for the subresource of the box and
// of the pod, and that the server has the permission. Allowed requests reach the kubelet, which a simulated node does not have. The
// test is not parallel, because all tests share the permissions of the server.
func TestPermissionsForStreams(t *testing.T) {
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web"))
	pods, err := n.LivePods("web")
	if err != nil {
		t.Fatal(err)
	}
	streams := []struct {
		subresource string
		options     runtime.Object
	}{
		{"exec", &modelv1.ModelBoxExecOptions{Command: []string{"ls"}, Stdout: true}},
		{"attach", &modelv1.ModelBoxAttachOptions{Stdout: true}},
		{"portforward", &modelv1.ModelBoxPortForwardOptions{Ports: []int32{80}}},
	}
	for _, stream := range streams {
		name := stream.subresource
		n.SubresourceUsers(name, "get,create")
		ofBox := func(verbs ...string) rbacv1.PolicyRule {
			return rbacv1.PolicyRule{Verbs: verbs, APIGroups: []string{modelv1.GroupName}, Resources: []string{"modelboxes/" + name}}
		}
		ofPod := rbacv1.PolicyRule{Verbs: []string{"get", "create"}, APIGroups: []string{""}, Resources: []string{"pods/" + name}}
		n.Grant("all-but-"+name, ofPod)
		n.Grant("both-"+name, ofBox("get", "create"), ofPod)
		n.Grant("reads-"+name, ofBox("get"), ofPod)
	}
	connect := func(user, protocol, subresource string, options runtime.Object) string {
		config := n.ControlPlane.ConfigAs(user)
		if err := n.Stream(n.Ctx, config, protocol, "web", subresource, options, remotecommand.StreamOptions{Stdout: &bytes.Buffer{}}); err != nil {
			return err.Error()
		}
		return ""
	}
	forbidden := func(user, verb, resource, group string) string {
		return fmt.Sprintf("User %q cannot %s resource %q in API group %q in the namespace %q", user, verb, resource, group, n.Name)
	}

	if got, want := connect("", "SPDY", "exec", streams[0].options), "artifacts/components/pod-access"; !strings.Contains(got, want) {
		t.Errorf("before the server may: %q, want %q", got, want)
	}
	n.ControlPlane.GrantPodAccess(t)
	n.Kubectl.RunAtEnd("delete", "--filename="+framework.PodAccessManifest())
	for _, stream := range streams {
		name := stream.subresource
		for _, protocol := range framework.StreamProtocols {
			t.Run(name+" by "+protocol, func(t *testing.T) {
				verb := map[string]string{"WebSocket": "get", "SPDY": "create"}[protocol]
				for user, want := range map[string]string{
					"all-but-" + name: forbidden("all-but-"+name, verb, "modelboxes/"+name, "model.github.com"),
					"reads-" + name:   forbidden("reads-"+name, "create", "modelboxes/"+name, "model.github.com"),
					"only-" + name:    fmt.Sprintf("pods %q is forbidden: ", pods[0].Name) + forbidden("only-"+name, verb, "pods/"+name, ""),
				} {
					if got := connect(user, protocol, name, stream.options); !strings.Contains(got, want) {
						t.Errorf("%s: %q, want %q", user, got, want)
					}
				}
				if got := connect("both-"+name, protocol, name, stream.options); !strings.Contains(got, kubeletPort) {
					t.Errorf("a user with both permissions: %q, want the refusal of port %s", got, kubeletPort)
				}
			})
		}
		n.Eventually("the audit events say who was led to the pod", func() error { return checkAudited(n, "both-"+name, name, name, pods[0].Name) })
	}
}

// checkAudited returns an error unless the audit log of the server has the pod of the request, and the audit log of the cluster has
// the same request.
func checkAudited(n *framework.Namespace, user, subresource, podSubresource, pod string) error {
	events := framework.ReadWrites(n.T, n.ControlPlane.ServerAuditLog(), n.Name)
	i := slices.IndexFunc(events, func(event auditv1.Event) bool {
		return event.User.Username == user && event.ObjectRef.Subresource == subresource && event.Annotations["model.github.com/pod"] == pod
	})
	if i < 0 {
		return fmt.Errorf("the server has no event of %s for %s", user, pod)
	}
	for _, event := range framework.ReadWrites(n.T, n.ControlPlane.ClusterAuditLog(), n.Name) {
		if event.AuditID == events[i].AuditID && event.ObjectRef.Resource == "pods" && event.ObjectRef.Subresource == podSubresource && event.ObjectRef.Name == pod {
			return nil
		}
	}
	return fmt.Errorf("the cluster has no event %s", events[i].AuditID)
}
