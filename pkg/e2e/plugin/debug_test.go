// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestDebug adds containers to pods of simulated nodes, which never run them. It is not parallel, because all tests share the
// permissions of the server.
func TestDebug(t *testing.T) {
	n := newBox(t, "web")
	n.ControlPlane.GrantPodAccess(t)
	n.Kubectl.RunAtEnd("delete", "--filename="+framework.PodAccessManifest())

	added := "pod/web-?: added container one, which sees the processes of container web"
	got := linesOf(run(n, "debug", "web", "--image=busybox", "-c", "one", "--all-pods", "--stdin", "--env=B=2,A=1", "--profile=netadmin", "--", "sh", "-c", "ps"))
	if diff := cmp.Diff([]string{added, added}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	pods, err := n.LivePods("web")
	if err != nil {
		t.Fatal(err)
	}
	for _, pod := range pods {
		said := n.Kubectl.Run("get", "pod", pod.Name, "--output=jsonpath={.spec.ephemeralContainers[*]['name','image','targetContainerName','command','env','securityContext.capabilities.add','stdin']}")
		framework.ExpectEqual(t, "container", `one busybox web ["sh","-c","ps"] [{"name":"A","value":"1"},{"name":"B","value":"2"}] ["NET_ADMIN","NET_RAW"] true`, said)
	}

	first := pods[0].Name
	dry := run(n, "debug", "mb/web", "--image=busybox", "--container=two", "--pod="+first, "--dry-run=server")
	framework.ExpectEqual(t, "output of a dry run", "pod/"+first+": added container two, which sees the processes of container web (server dry run)\n", dry)
	framework.ExpectEqual(t, "name", "modelbox.model.github.com/web\n", run(n, "debug", "web", "--image=busybox", "--pod="+first, "--output=name"))
	generatedName := run(n, "debug", "web", "--image=busybox", "--pod="+first, "--output=jsonpath={.status.pods[*].containerName}")
	names := strings.Fields(n.Kubectl.Run("get", "pod", first, "--output=jsonpath={.spec.ephemeralContainers[*].name}"))
	if len(names) != 3 || names[0] != "one" || names[2] != generatedName || !strings.HasPrefix(generatedName, "debugger-") {
		t.Errorf("the pod has the containers %q, the last one is said to be %q", names, generatedName)
	}

	user := "user-of-" + n.Name
	n.Grant(user, rbacv1.PolicyRule{Verbs: []string{"create"}, APIGroups: []string{"model.github.com"}, Resources: []string{"modelboxes/debug"}})
	cannot := "cannot patch resource \"pods/ephemeralcontainers\""
	expectFailure(n, []string{"pod/" + pods[0].Name + ": ", "pod/" + pods[1].Name + ": ", cannot}, "debug", "web", "--image=busybox", "--all-pods", "--as="+user)
	expectFailure(n, []string{"Error from server (Forbidden): pods", cannot}, "debug", "web", "--image=busybox", "--as="+user)
	for _, row := range []struct{ words, arguments []string }{
		{[]string{"you must specify --image"}, []string{"web"}},
		{[]string{"expected the name of one box"}, []string{"--image=busybox"}},
		{[]string{"does not name a box"}, []string{"mst/shop", "--image=busybox"}},
		{[]string{"-i/--stdin is required"}, []string{"web", "--image=busybox", "-t"}},
		{[]string{"--all-pods and --pod may not be specified together"}, []string{"web", "--image=busybox", "--all-pods", "--pod=web-1"}},
		{[]string{"--attach and --all-pods may not be specified together"}, []string{"web", "--image=busybox", "--all-pods", "--attach"}},
		{[]string{"use --dry-run=server"}, []string{"web", "--image=busybox", "--dry-run=client"}},
		{[]string{"--attach and --output may not be specified together"}, []string{"web", "--image=busybox", "-i", "--output=yaml"}},
		{[]string{"NotFound", `"nope" not found`}, []string{"nope", "--image=busybox"}},
		{[]string{"profile: Unsupported value: \"root\"", `"restricted"`}, []string{"web", "--image=busybox", "--profile=root"}},
		{[]string{`containerName: Duplicate value: "one"`}, []string{"web", "--image=busybox", "--container=one"}},
	} {
		expectFailure(n, row.words, append([]string{"debug"}, row.arguments...)...)
	}
}
