// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/hostcluster/ephemeralcontainer"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/debugcontainer"
)

// TestPermissionsForDebug checks that adding an ephemeral container requires the permission for the subresource of the box and to
// patch the subresource of the pod, and that the server has the permission. It is not parallel, because all tests share the
// permissions of the server.
func TestPermissionsForDebug(t *testing.T) {
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web"))
	pods, err := n.LivePods("web")
	if err != nil {
		t.Fatal(err)
	}
	pod := pods[0].Name
	ofPods := rbacv1.PolicyRule{Verbs: []string{"patch"}, APIGroups: []string{""}, Resources: []string{"pods/ephemeralcontainers"}}
	n.SubresourceUsers("debug", "create")
	n.Grant("all-but-debug", ofPods)
	n.Grant("both-debug", rbacv1.PolicyRule{Verbs: []string{"create"}, APIGroups: []string{modelv1.GroupName}, Resources: []string{"modelboxes/debug"}}, ofPods)
	debug := func(user string, request modelv1.ModelBoxDebug) (*modelv1.ModelBoxDebug, error) {
		request.Image = "busybox"
		return n.BoxesAs(user).CreateDebug(n.Ctx, "web", &request, metav1.CreateOptions{})
	}
	expectRefusal := func(user, want string, request modelv1.ModelBoxDebug) {
		t.Helper()
		if answer, err := debug(user, request); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s got %v, %v, want %q", user, answer, err, want)
		}
	}

	// Another test may just have removed the permission.
	n.Eventually("no user may before the server may", func() error {
		_, err := n.BoxesAs("both-debug").CreateDebug(n.Ctx, "web", &modelv1.ModelBoxDebug{Image: "busybox"}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "artifacts/components/pod-access") {
			return fmt.Errorf("got %w", err)
		}
		return nil
	})
	n.ControlPlane.GrantPodAccess(t)
	n.Kubectl.RunAtEnd("delete", "--filename="+framework.PodAccessManifest())

	forbidden := func(user, verb, resource, group string) string {
		return fmt.Sprintf("User %q cannot %s resource %q in API group %q in the namespace %q", user, verb, resource, group, n.Name)
	}
	expectRefusal("all-but-debug", forbidden("all-but-debug", "create", "modelboxes/debug", "model.github.com"), modelv1.ModelBoxDebug{})
	ofPod := fmt.Sprintf("pods %q is forbidden: ", pod) + forbidden("only-debug", "patch", "pods/ephemeralcontainers", "")
	expectRefusal("only-debug", ofPod, modelv1.ModelBoxDebug{})
	answer, err := debug("only-debug", modelv1.ModelBoxDebug{AllPods: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range answer.Status.Pods {
		if got.ContainerName != "" || got.Reason != metav1.StatusReasonForbidden || got.Name == pod && got.Message != ofPod {
			t.Errorf("a user with only the subresource got %+v", got)
		}
	}
	expectEphemeral(n, pod)

	answer, err = debug("both-debug", modelv1.ModelBoxDebug{Pod: pod, ContainerName: "debugger"})
	if err != nil || len(answer.Status.Pods) != 1 || answer.Status.Pods[0] != (modelv1.ModelBoxDebugPod{Name: pod, ContainerName: "debugger", TargetContainer: "web"}) {
		t.Fatalf("a user with both permissions got %+v, %v", answer, err)
	}
	expectEphemeral(n, pod, "debugger")
	expectRefusal("both-debug", `containerName: Duplicate value: "debugger"`, modelv1.ModelBoxDebug{Pod: pod, ContainerName: "debugger"})
	expectRefusal("both-debug", `targetContainer: Unsupported value: "none": supported values: "web"`, modelv1.ModelBoxDebug{TargetContainer: "none"})
	expectRefusal("both-debug", `profile: Unsupported value: "root"`, modelv1.ModelBoxDebug{Profile: "root"})
	n.Eventually("the audit events say who was led to the pod", func() error { return checkAudited(n, "both-debug", "debug", "ephemeralcontainers", pod) })
	n.Eventually("an event says who has done what", func() error {
		events := n.Kubectl.Run("get", "events", "--field-selector=reason=Debugged", "--output=jsonpath={.items[*].message}")
		if want := fmt.Sprintf(`User "both-debug" added the ephemeral container debugger to pod %s`, pod); !strings.Contains(events, want) {
			return errors.New(events)
		}
		return nil
	})
}

// TestServerAddsNoContainerToTheSystem adds a container to pods with the token of the server.
func TestServerAddsNoContainerToTheSystem(t *testing.T) {
	n := framework.NewNamespace(t)
	n.ControlPlane.GrantPodAccess(t)
	n.Kubectl.RunAtEnd("delete", "--filename="+framework.PodAccessManifest())
	client, err := kubernetes.NewForConfig(n.ControlPlane.ConfigAs(framework.ServerUser))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ namespace, refusal string }{
		{n.Name, ""},
		{"kube-system", "modelbox-apiserver writes nothing in the namespaces kube-system and modelbox-system"},
	} {
		n.Kubectl.Run("run", n.Name, "--namespace="+row.namespace, "--image="+framework.Image)
		n.Kubectl.RunAtEnd("delete", "pod", n.Name, "--namespace="+row.namespace, "--wait=false")
		pod, err := n.ControlPlane.KubeClient.CoreV1().Pods(row.namespace).Get(n.Ctx, n.Name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		container, err := debugcontainer.New(debugcontainer.Options{Name: "debugger", Image: framework.Image})
		if err != nil {
			t.Fatal(err)
		}
		_, err = ephemeralcontainer.Add(n.Ctx, client.CoreV1(), pod, container, metav1.PatchOptions{})
		if row.refusal == "" && err != nil || row.refusal != "" && (err == nil || !strings.Contains(err.Error(), row.refusal)) {
			t.Errorf("in the namespace %s: %v, want %q", row.namespace, err, row.refusal)
		}
	}
}

// TestPodSecurityAppliesToDebug checks that Pod Security treats a container for a box like a container of kubectl. Like
// TestPermissionsForDebug, it is not parallel.
func TestPodSecurityAppliesToDebug(t *testing.T) {
	n := framework.NewNamespace(t)
	n.ControlPlane.GrantPodAccess(t)
	n.Kubectl.RunAtEnd("delete", "--filename="+framework.PodAccessManifest())
	n.Kubectl.RunWithInput(framework.Manifest(`image: 'nginx:1.7.9', minReadySeconds: 0, podTemplate: {spec: {
		securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}},
		containers: [{name: web, securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}]}}`), "apply", "--filename=-")
	n.Kubectl.Run("label", "namespace", n.Name, "pod-security.kubernetes.io/enforce=restricted")
	// The container need not run. On a container node, it would only run as root.
	var pod string
	n.Eventually("the box has a pod", func() error {
		pods, err := n.LivePods("web")
		if err == nil && len(pods) == 0 {
			err = errors.New("there is none")
		}
		if err == nil {
			pod = pods[0].Name
		}
		return err
	})
	debug := func(profile modelv1.DebugProfile) error {
		_, err := n.Boxes.CreateDebug(n.Ctx, "web", &modelv1.ModelBoxDebug{Image: "busybox", ContainerName: "debugger", Profile: profile}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	}
	for _, profile := range []modelv1.DebugProfile{modelv1.DebugProfileSysadmin, modelv1.DebugProfileGeneral, modelv1.DebugProfileBaseline} {
		var want string
		n.Eventually("the namespace refuses kubectl debug", func() error {
			// kubectl has no dry run of it: what is refused is not added.
			run := framework.RunKubectl(n.Kubectl.Command("debug", pod, "--image=busybox", "--container=debugger", "--profile="+string(profile), "--quiet"), "")
			_, refusal, ok := strings.Cut(run.Stderr, `is forbidden: violates PodSecurity "restricted:latest": `)
			if !ok {
				return fmt.Errorf("it says %q", run.Stderr)
			}
			want = strings.TrimSpace(refusal)
			return nil
		})
		err := debug(profile)
		if !apierrors.IsForbidden(err) || !strings.HasSuffix(err.Error(), want) || !strings.HasPrefix(err.Error(), fmt.Sprintf("pods %q is forbidden: violates PodSecurity", pod)) {
			t.Errorf("profile %s got %v, want %q", profile, err, want)
		}
	}
	if err := debug(modelv1.DebugProfileRestricted); err != nil {
		t.Errorf("profile restricted got %v", err)
	}
	expectEphemeral(n, pod)
}

// expectEphemeral expects the pod to have these ephemeral containers and no other ones.
func expectEphemeral(n *framework.Namespace, pod string, want ...string) {
	n.T.Helper()
	got := n.Kubectl.Run("get", "pod", pod, "--output=jsonpath={.spec.ephemeralContainers[*].name}")
	framework.ExpectEqual(n.T, "ephemeral containers of "+pod, strings.Join(want, " "), got)
}
