// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"bufio"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

var (
	// generated matches the generated suffix of names in Kubernetes, which has no vowels.
	generated = regexp.MustCompile(`-[b-df-hj-np-tv-z0-9]{5,10}(-[b-df-hj-np-tv-z0-9]{5})?\b`)
	age       = regexp.MustCompile(`\b[0-9]+[smh]([0-9]+s)?\b`)
	spaces    = regexp.MustCompile(` {2,}`)
)

// linesOf returns the lines of a table, without generated names and ages.
func linesOf(table string) []string {
	table = spaces.ReplaceAllString(age.ReplaceAllString(generated.ReplaceAllString(table, "-?"), "?"), " ")
	return strings.Split(strings.TrimSpace(table), "\n")
}

func TestStatusIsATree(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.Kubectl.RunWithInput(shop, "apply", "--filename=-")
	run(n, "wait", "mst/shop", "--timeout=5m")
	want := []string{
		"NAME READY STATUS AGE MESSAGE",
		"ModelStack/shop 3/3 Ready ?",
		"├─ModelBox/shop-db 1/1 Ready ?",
		"│ └─StatefulSet/shop-db 1/1 ?",
		"│ └─Pod/shop-db-0 1/1 Running ?",
		"├─ModelBox/shop-web 2/2 Ready ?",
		"│ └─Deployment/shop-web 2/2 ?",
		"│ └─ReplicaSet/shop-web-? 2/2 revision 1 ?",
		"│ ├─Pod/shop-web-? 1/1 Running ?",
		"│ └─Pod/shop-web-? 1/1 Running ?",
		"└─Component/mail Ready",
	}
	for _, arguments := range [][]string{{"mst/shop"}, {"mst", "shop"}, {"mst"}, {}} {
		got := linesOf(run(n, append([]string{"status", "--show-events=false"}, arguments...)...))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("kubectl modelbox status %v: -want +got:\n%s", arguments, diff)
		}
	}
	if text := run(n, "status", "mst/shop"); !framework.ContainsAll(text, []string{"Events:", "RolloutComplete", "Pod/shop-db-0"}) {
		t.Errorf("it has no events:\n%s", text)
	}
	names := strings.Fields(run(n, "status", "shop-db", "--output=name"))
	if diff := cmp.Diff([]string{"modelbox.model.github.com/shop-db", "statefulset.apps/shop-db", "pod/shop-db-0"}, names); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	expectFailure(n, []string{"NotFound", `"nope" not found`}, "status", "nope")
	expectFailure(n, []string{"deployments/shop-web is neither a box nor a stack"}, "status", "deploy/shop-web")
}

func TestStatusTellsWhatMayNotBeSeen(t *testing.T) {
	t.Parallel()
	n := newBox(t, "web")
	user := newUser(n, "get,list modelboxes.model.github.com", "list deployments.apps")
	result := modelbox(n, "status", "web", "--as="+user)
	if diff := cmp.Diff([]string{"NAME READY STATUS AGE MESSAGE", "ModelBox/web 2/2 Ready ?", "└─Deployment/web 2/2 ?"}, linesOf(result.Stdout)); diff != "" {
		t.Errorf("%v, -want +got:\n%s", result.Err, diff)
	}
	expectFailure(n, []string{"modelboxes.model.github.com is forbidden", "cannot watch"}, "status", "web", "--watch", "--as="+user)
	for _, resource := range []string{"replicasets.apps", "pods", "events"} {
		if want := fmt.Sprintf("warning: omitted: %s is forbidden", resource); !strings.Contains(result.Stderr, want) {
			t.Errorf("no %q in:\n%s", want, result.Stderr)
		}
	}
}

func TestStatusFollowsWhatHappens(t *testing.T) {
	t.Parallel()
	n := newBox(t, "web")
	watching := command(n, "modelbox", "status", "web", "--watch", "--show-events=false", "--namespace="+n.Name)
	output, err := watching.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	ended, err := framework.StartProcess(watching, syscall.SIGKILL)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(output)
	await := func(text string) {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), text) {
				return
			}
		}
		t.Fatalf("it ended without %q: %v", text, lines.Err())
	}
	await("ModelBox/web")
	run(n, "set", "image", "web", "web="+framework.NewImage)
	await("revision 2")
	n.Kubectl.Run("delete", "modelbox", "web")
	await("No resources found")
	if err := watching.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() { // to the end, or it could not write
	}
	if err := <-ended; err != nil {
		t.Errorf("interrupted, it ended with %v", err)
	}
}

func TestWait(t *testing.T) {
	t.Parallel()
	n := newBox(t, "web")
	framework.ExpectEqual(t, "output", "modelbox.model.github.com/web condition met\n", run(n, "wait", "web"))

	// Its pods are not available before ten minutes.
	slow := framework.NewBox("slow")
	slow.Spec.MinReadySeconds = ptr.To[int32](599)
	n.CreateBox(slow)
	n.AwaitReadyCondition("slow", metav1.ConditionFalse, modelv1.ReasonProgressing)
	for _, timeout := range []string{"0", "1s"} {
		expectFailure(n, []string{"error: timed out waiting for the condition on modelboxes/slow: Progressing: ", "slow: 0/1 Progressing: "},
			"wait", "slow", "--timeout="+timeout)
	}
	expectFailure(n, []string{"error: timed out waiting for the condition on modelboxes/slow: "}, "wait", "web", "slow", "--timeout=1s")
	n.UpdateBox("slow", func(spec *modelv1.ModelBoxSpec) { spec.MinReadySeconds = ptr.To[int32](0) })
	if result := modelbox(n, "wait", "slow", "--timeout=5m"); result.Err != nil || !strings.Contains(result.Stderr, "slow: 1/1 Ready") {
		t.Errorf("%v: %s", result.Err, result.Stderr)
	}

	run(n, "pause", "web")
	run(n, "set", "image", "web", "web="+framework.NewImage)
	n.AwaitPaused("web")
	expectFailure(n, []string{"error: modelboxes/web will not become ready: Paused: "}, "wait", "web", "--timeout=5m")
	run(n, "resume", "web")
	run(n, "wait", "mb", "--timeout=5m")

	expectFailure(n, []string{"NotFound"}, "wait", "nope")
	expectFailure(n, []string{"must be specified"}, "wait")
	expectFailure(n, []string{"no matching resources found"}, "wait", "--selector=a=b")
}

func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	n := newBox(t, "web")
	framework.ExpectEqual(t, "output", "modelbox.model.github.com/web paused\n", run(n, "pause", "web"))
	framework.ExpectEqual(t, "paused", true, n.GetBox("web").Spec.Paused)
	expectFailure(n, []string{`error: modelboxes.model.github.com "web" is already paused`}, "pause", "web")
	framework.ExpectEqual(t, "output", "modelbox.model.github.com/web resumed\n", run(n, "resume", "mb/web"))
	framework.ExpectEqual(t, "paused", false, n.GetBox("web").Spec.Paused)
	expectFailure(n, []string{"is not paused"}, "resume", "web")
}

func TestSet(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateBox(framework.NewBox("web"))
	n.Kubectl.RunWithInput(shop, "apply", "--filename=-")
	run(n, "set", "image", "web", "web="+framework.NewImage)
	run(n, "set", "env", "web", "MODE=debug", "LEVEL=2")
	run(n, "set", "env", "web", "LEVEL-")
	run(n, "set", "resources", "web", "--limits=cpu=200m")
	spec := n.GetBox("web").Spec
	framework.ExpectEqual(t, "image", framework.NewImage, spec.Image)
	framework.ExpectEqual(t, "variables", 1, len(spec.Envs))
	framework.ExpectEqual(t, "MODE", "debug", spec.Envs[0].Value)
	framework.ExpectEqual(t, "limit", "200m", spec.Resources.Limits.Cpu().String())
	n.AwaitReady("web")
	expectFailure(n, []string{`unable to find container named "nope"`}, "set", "image", "web", "nope=x")

	run(n, "set", "image", "mst/shop", "web="+framework.NewImage)
	n.AwaitBox("shop-web", "has the image", func(box *modelv1.ModelBox) error {
		if box.Spec.Image != framework.NewImage {
			return fmt.Errorf("its image is %s", box.Spec.Image)
		}
		return nil
	})
	framework.ExpectEqual(t, "image of the other component", framework.Image, n.GetBox("shop-db").Spec.Image)
}

// TestPermissionsOnPods checks permissions. Simulated nodes refuse connections, so that allowed requests fail there.
func TestPermissionsOnPods(t *testing.T) {
	t.Parallel()
	n := newBox(t, "web")
	n.Kubectl.RunWithInput(shop, "apply", "--filename=-")
	user := newUser(n, "get modelboxes.model.github.com", "get,list pods")
	for _, test := range []struct {
		subresource string
		arguments   []string
	}{
		{"pods/exec", []string{"exec", "web", "--as=" + user, "--", "date"}},
		{"pods/attach", []string{"attach", "web", "--as=" + user}},
		{"pods/portforward", []string{"port-forward", "web", ":80", "--as=" + user}},
	} {
		expectFailure(n, []string{"cannot", test.subresource[len("pods/"):]}, test.arguments...)
	}
	n.Kubectl.Run("create", "role", "connect", "--verb=create,get", "--resource=pods/exec,pods/attach,pods/portforward")
	n.Kubectl.Run("create", "rolebinding", "connect", "--role=connect", "--user="+user)
	n.Kubectl.AwaitAllowed(user, "create pods --subresource=exec")
	expectFailure(n, []string{"connection refused"}, "exec", "web", "--as="+user, "--", "date")
	expectFailure(n, []string{"connection refused"}, "attach", "web", "--as="+user)
	expectFailure(n, []string{"nope", "not found"}, "exec", "nope", "--", "date")
	expectFailure(n, []string{"does not name a box"}, "port-forward", "mst/shop", "80")
}

// TestLogs is not parallel, because all tests share the permissions of the server. Simulated nodes refuse connections, so that
// allowed requests fail there.
func TestLogs(t *testing.T) {
	n := newBox(t, "web")
	n.Kubectl.RunWithInput(shop, "apply", "--filename=-")
	user := newUser(n, "get,list modelboxes.model.github.com")
	expectFailure(n, []string{"cannot get", "modelboxes/log"}, "logs", "web", "--as="+user)
	n.Kubectl.Run("create", "role", "log", "--verb=get", "--resource=modelboxes.model.github.com/log")
	n.Kubectl.Run("create", "rolebinding", "log", "--role=log", "--user="+user)
	n.Kubectl.AwaitAllowed(user, "get modelboxes.model.github.com --subresource=log")
	asUser := "warning: the server does not have the component pod-access: reading logs with the permissions of the user"
	expectFailure(n, []string{asUser, "cannot list", "pods"}, "logs", "web", "--as="+user)
	n.Kubectl.Run("create", "role", "pods", "--verb=list", "--resource=pods")
	n.Kubectl.Run("create", "rolebinding", "pods", "--role=pods", "--user="+user)
	n.Kubectl.AwaitAllowed(user, "list pods")
	expectFailure(n, []string{asUser, "cannot get", "pods/log"}, "logs", "web", "--as="+user)
	expectFailure(n, []string{asUser, "connection refused"}, "logs", "mb/web")
	expectFailure(n, []string{asUser + ", and new pods are not followed", "the maximum is 1"}, "logs", "web", "-f", "--max-log-requests=1")
	expectFailure(n, []string{asUser, `pods "nope" not found`}, "logs", "web", "--pod=nope")
	expectFailure(n, []string{asUser, "is not valid for pod"}, "logs", "web", "-c", "nope")
	n.ControlPlane.GrantPodAccess(t)
	n.Kubectl.RunAtEnd("delete", "--filename="+framework.PodAccessManifest())
	expectFailure(n, []string{"cannot get", "pods/log"}, "logs", "web", "--as="+user)
	if result := modelbox(n, "logs", "mb/web"); !strings.Contains(result.Stderr, "connection refused") || strings.Contains(result.Stderr, asUser) {
		t.Errorf("with the component: %v\n%s", result.Err, result.Stderr)
	}
	expectFailure(n, []string{"nope", "not found"}, "logs", "nope")
	expectFailure(n, []string{`pods "nope" not found`}, "logs", "web", "--pod=nope")
	expectFailure(n, []string{"is not valid for pod"}, "logs", "web", "-c", "nope")
	expectFailure(n, []string{"tailLines", "must be greater than or equal to 0"}, "logs", "web", "--tail=-2")
	expectFailure(n, []string{"sinceSeconds", "may not be specified together with sinceTime"}, "logs", "web", "--since=1m", "--since-time=2026-01-01T12:00:00Z")
	expectFailure(n, []string{"--selector and --pod may not be specified together"}, "logs", "mb", "-l", "a=b", "--pod=web")
}

func TestTopNeedsMetrics(t *testing.T) {
	t.Parallel()
	n := newBox(t, "web")
	expectFailure(n, []string{"metrics API not available"}, "top")
	expectFailure(n, []string{"--sort-by accepts only cpu or memory, not \"pods\""}, "top", "--sort-by=pods")
	expectFailure(n, []string{"NotFound", `"nope" not found`}, "top", "nope")
}

// TestCompletion completes like the completion scripts of kubectl, which call kubectl_complete-modelbox.
func TestCompletion(t *testing.T) {
	t.Parallel()
	n := newBox(t, "web")
	n.Kubectl.RunWithInput(shop, "apply", "--filename=-")
	n.AwaitBox("shop-db", "is there", func(*modelv1.ModelBox) error { return nil })
	for _, test := range []struct {
		words, want []string
	}{
		{[]string{"stat"}, []string{"status"}},
		{[]string{"dash"}, []string{"dashboard"}},
		{[]string{"dashboard", "--po"}, []string{"--port"}},
		{[]string{"wait", "w"}, []string{"web"}},
		{[]string{"pause", "mst/"}, []string{"mst/shop"}},
		{[]string{"exec", "web"}, []string{"web"}},
		{[]string{"attach", "web"}, []string{"web"}},
		{[]string{"debug", "web"}, []string{"web"}},
		{[]string{"debug", "--profile="}, []string{"baseline", "general", "netadmin", "restricted", "sysadmin"}},
		{[]string{"logs", "w"}, []string{"web"}},
		{[]string{"logs", "--max"}, []string{"--max-log-requests"}},
		{[]string{"port-forward", "web", ""}, []string{"80"}},
		{[]string{"wait", "--time"}, []string{"--timeout"}},
	} {
		words := append([]string{"__complete", "modelbox"}, test.words[:len(test.words)-1]...)
		if len(test.words) > 1 {
			words = append(words, "--namespace="+n.Name)
		}
		result := framework.RunKubectl(command(n, append(words, test.words[len(test.words)-1])...), "")
		got := []string{}
		for line := range strings.Lines(result.Stdout) {
			if name, _, _ := strings.Cut(strings.TrimSpace(line), "\t"); name != "" && !strings.HasPrefix(name, ":") {
				got = append(got, strings.TrimSuffix(name, "="))
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(test.want, slices.Compact(got)); diff != "" {
			t.Errorf("%v: %v, -want +got:\n%s\n%s", test.words, result.Err, diff, result.Stderr)
		}
	}
}
