// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package poddebugger

import (
	"strings"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const ofApp = `selector: {matchLabels: {app: a}}, image: "busybox:1.37", command: [sleep, infinity]`

// TestPodsGetTheContainerOnce checks existing and new pods of two PodDebuggers, and a restart of the server.
func TestPodsGetTheContainerOnce(t *testing.T) {
	n := newNamespace(t)
	createPods(n, "a", "a-0", "a-1")
	createPods(n, "b", "b-0")
	n.CreateReadyBox(framework.NewBox("web"))

	n.ApplyPodDebugger("tools", ofApp)
	tools := n.AwaitDebugged("tools", 2).Status.ContainerName
	expectContainers(n, "a-0", tools)
	expectContainers(n, "a-1", tools)
	expectContainers(n, "b-0")
	n.Events.AwaitAboutKind("Pod", "a-0", "EphemeralContainerAdded", "tools", tools)

	pod, err := n.Pods.Get(n.Ctx, "a-0", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	container := pod.Spec.EphemeralContainers[0]
	framework.ExpectEqual(t, "the image", "busybox:1.37", container.Image)
	framework.ExpectEqual(t, "the command", []string{"sleep", "infinity"}, container.Command)
	framework.ExpectEqual(t, "the target", "web", container.TargetContainerName)

	createPods(n, "a", "a-2")
	awaitContainers(n, "a-2", tools)
	n.ApplyPodDebugger("more", `selector: {matchExpressions: [{key: app, operator: In, values: [a, c]}]}, image: "busybox:1.37", profile: baseline`)
	more := n.AwaitDebugged("more", 3).Status.ContainerName
	n.ApplyPodDebugger("box", `selector: {matchLabels: {modelbox: web}}, image: "busybox:1.37"`)
	ofBox := n.AwaitDebugged("box", 1)
	framework.ExpectEqual(t, "the box of the pod", "web", ofBox.Status.Pods[0].Box)

	// Another server, or the same server after a restart, identifies the containers by their names.
	former := n.ControlPlane.ServerPID(t)
	n.ControlPlane.SignalServer(t, syscall.SIGTERM)
	n.AwaitServerRestart(former)
	createPods(n, "a", "a-3")
	awaitContainers(n, "a-3", tools, more)
	n.AwaitDebugged("tools", 4)
	for _, pod := range []string{"a-0", "a-1", "a-2", "a-3"} {
		expectContainers(n, pod, tools, more)
		framework.ExpectEqual(t, "requests for pod "+pod, 2, patches(n, pod))
	}
	expectContainers(n, "b-0")

	table := strings.Split(strings.TrimSpace(n.Kubectl.Run("get", "pdbg", "tools")), "\n")
	framework.ExpectEqual(t, "columns", []string{"NAME", "SELECTOR", "IMAGE", "PODS", "STATUS", "AGE", "MESSAGE"}, strings.Fields(table[0]))
	framework.ExpectEqual(t, "row", []string{"tools", "app=a", "busybox:1.37", "0/4", "ContainerWaiting"}, strings.Fields(table[1])[:5])
}

func TestMaxPodsAndTime(t *testing.T) {
	n := newNamespace(t)
	createPods(n, "a", "a-0", "a-1", "a-2")
	n.ApplyPodDebugger("few", ofApp+", maxPods: 2")
	few := n.AwaitDebugged("few", 2)
	framework.ExpectEqual(t, "selected pods", int32(3), few.Status.SelectedPods)
	expectContainers(n, "a-0", few.Status.ContainerName)
	expectContainers(n, "a-2")

	// A higher limit or the deletion of a pod allows another container.
	n.Kubectl.Run("delete", "pod", "a-0", "--grace-period=0", "--force")
	awaitContainers(n, "a-2", few.Status.ContainerName)
	createPods(n, "a", "a-3")
	n.Kubectl.Run("patch", "pdbg/few", "--type=merge", `--patch={"spec": {"maxPods": 3}}`)
	awaitContainers(n, "a-3", few.Status.ContainerName)

	n.ApplyPodDebugger("short", ofApp+", ttlSecondsAfterCreation: 1")
	short := n.AwaitPodDebugger("short", "has expired", func(debugger *modelv1.PodDebugger) error {
		return framework.CheckPodDebugger(debugger, modelv1.ConditionApplied, metav1.ConditionTrue, modelv1.ReasonApplied, "no other pod gets it since")
	})
	n.ApplyPodDebugger("long", ofApp)
	long := n.AwaitDebugged("long", 3).Status.ContainerName
	createPods(n, "a", "a-4")
	awaitContainers(n, "a-4", long)
	n.AwaitPodDebugger("short", "has seen the pod", func(debugger *modelv1.PodDebugger) error {
		if debugger.Status.SelectedPods != 4 {
			return errStillThere
		}
		return nil
	})
	for _, name := range ephemeralContainers(n, "a-4") {
		if name == short.Status.ContainerName {
			t.Errorf("pod a-4 got %s when it was too late", name)
		}
	}
}

func TestWhatCannotBe(t *testing.T) {
	n := newNamespace(t)
	n.ApplyPodDebugger("tools", ofApp)
	for _, row := range []struct{ name, spec, want string }{
		{"no selector", `image: busybox`, "spec.selector: Required value: " + validation.MustSelectPods},
		{"an empty selector", `selector: {matchLabels: {}}, image: busybox`, "spec.selector: Required value"},
		{"no image", `selector: {matchLabels: {app: a}}`, "spec.image: Required value"},
		{"no profile of kubectl", ofApp + ", profile: root", `spec.profile: Unsupported value: "root"`},
		{"no pods", ofApp + ", maxPods: 0", "spec.maxPods: Invalid value: 0"},
		{"too many pods", ofApp + ", maxPods: 101", "spec.maxPods: Invalid value: 101"},
		{"no time", ofApp + ", ttlSecondsAfterCreation: 0", "spec.ttlSecondsAfterCreation: Invalid value: 0"},
	} {
		got := n.Kubectl.RunFailing(framework.NewPodDebuggerManifest("bad", row.spec), "apply", "--filename=-")
		if !strings.Contains(got, row.want) {
			t.Errorf("%s: kubectl says %q, want %q", row.name, got, row.want)
		}
	}
	got := n.Kubectl.RunFailing("", "patch", "pdbg/tools", "--type=merge", `--patch={"spec": {"image": "busybox:1.36"}}`)
	if want := `spec.image: Invalid value: "busybox:1.36": field is immutable`; !strings.Contains(got, want) {
		t.Errorf("kubectl says %q, want %q", got, want)
	}
}
