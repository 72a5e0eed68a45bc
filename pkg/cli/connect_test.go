// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// connectable returns boxes with pods, and a stack. The pod web-1 is the one of box web that is ready.
func connectable() map[string]runtime.Object {
	pending, ready, done := newPod("web-0", "web"), newPod("web-1", "web"), newPod("done-1", "done")
	pending.Status.Phase, done.Status.Phase = corev1.PodPending, corev1.PodSucceeded
	ready.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	ready.Spec.Containers = append(ready.Spec.Containers, corev1.Container{Name: "sidecar"})
	return stored(newExposedBox("web"), newBox("done"), newBox("idle"), newStack(), newComponent("shop-db"),
		pending, ready, newPod("web-2", "web"), done, newPod("shop-db-0", "shop-db"))
}

func TestExec(t *testing.T) {
	const web = "pods/web-1/exec?command=date&container=web&stderr=true&stdout=true"
	runAll(t, []commandTest{
		{name: "in a pod that is ready", arguments: []string{"exec", "web", "--", "date"}, fails: "not found", requests: connections(web)},
		{name: "by a type and a name", arguments: []string{"exec", "mb/web", "--", "date"}, fails: "not found", requests: connections(web)},
		{name: "in the box of a file", arguments: []string{"exec", "--", "date"}, file: webFile, fails: "not found", requests: connections(web)},
		{
			name: "in a container, with input", arguments: []string{"exec", "web", "-i", "-c", "sidecar", "--", "sh", "-c", "cat"}, fails: "not found",
			requests: connections("pods/web-1/exec?command=sh&command=-c&command=cat&container=sidecar&stderr=true&stdin=true&stdout=true"),
		},
		{name: "in a container that is not there", arguments: []string{"exec", "web", "-c", "nope", "--", "date"}, fails: "container nope is not valid for pod web-1"},
		{
			name: "in a pod that is named", arguments: []string{"exec", "web", "--pod=web-2", "--", "date"}, fails: "not found",
			requests: connections("pods/web-2/exec?command=date&container=web&stderr=true&stdout=true"),
		},
		{name: "in a pod that is not found", arguments: []string{"exec", "web", "--pod=nope", "--", "date"}, fails: `"nope" not found`},
		{
			name: "in a component", arguments: []string{"exec", "mst/shop/db", "--", "date"}, fails: "not found",
			requests: connections("pods/shop-db-0/exec?command=date&container=web&stderr=true&stdout=true"),
		},
		{name: "in a component without a box", arguments: []string{"exec", "mst/shop/mail", "--", "date"}, fails: `has no component "mail"`},
		{name: "in a stack", arguments: []string{"exec", "mst/shop", "--", "date"}, fails: "mst/shop is a stack"},
		{name: "in a component of a stack that is not found", arguments: []string{"exec", "mst/nope/db", "--", "date"}, fails: `"nope" not found`},
		{name: "in another object", arguments: []string{"exec", "pod/web-1", "--", "date"}, fails: "not found", requests: connections(web)},
		{name: "in a pod that has ended", arguments: []string{"exec", "done", "--", "date"}, fails: "completed pod"},
		{name: "in a box without pods", arguments: []string{"exec", "idle", "--pod-running-timeout=1s", "--", "date"}, fails: "the pods of box idle"},
		{name: "in a box that is not found", arguments: []string{"exec", "nope", "--", "date"}, fails: `"nope" not found`},
		{
			name: "without the right to list pods", arguments: []string{"exec", "web", "--", "date"}, fails: "pods.model.github.com is forbidden",
			answers: map[string]runtime.Object{"GET pods": forbidden("pods")},
		},
		{
			name: "without the right to exec", arguments: []string{"exec", "web", "--", "date"}, fails: "forbidden", requests: connections(web),
			answers: map[string]runtime.Object{"GET pods/web-1/exec": forbidden("pods/exec"), "POST pods/web-1/exec": forbidden("pods/exec")},
		},
		{name: "no command", arguments: []string{"exec", "web"}, fails: "must specify at least one command"},
		{name: "a command without a box", arguments: []string{"exec", "--", "date"}, fails: "must be specified"},
	}, connectable(), nil)
}

func TestAttach(t *testing.T) {
	const web = "pods/web-1/attach?container=web&stderr=true&stdout=true"
	runAll(t, []commandTest{
		{
			name: "to a pod that is ready", arguments: []string{"attach", "web"}, fails: "not found", requests: connections(web),
			says: []string{"If you don't see a command prompt"},
		},
		{
			name: "to a container, with input", arguments: []string{"attach", "mb/web", "-i", "-c", "sidecar"}, fails: "not found",
			requests: connections("pods/web-1/attach?container=sidecar&stderr=true&stdin=true&stdout=true"),
		},
		{
			name: "to a pod that is named", arguments: []string{"attach", "web", "--pod=web-2"}, fails: "not found",
			requests: connections("pods/web-2/attach?container=web&stderr=true&stdout=true"),
		},
		{
			name: "to a component", arguments: []string{"attach", "mst/shop/db"}, fails: "not found",
			requests: connections("pods/shop-db-0/attach?container=web&stderr=true&stdout=true"),
		},
		{name: "to a stack", arguments: []string{"attach", "mst/shop"}, fails: "mst/shop is a stack"},
		{name: "to a pod that has ended", arguments: []string{"attach", "done"}, fails: "completed pod"},
		{name: "to a box that is not found", arguments: []string{"attach", "nope"}, fails: `"nope" not found`},
		{
			name: "without the right to attach", arguments: []string{"attach", "web"}, fails: "forbidden", requests: connections(web),
			answers: map[string]runtime.Object{"GET pods/web-1/attach": forbidden("pods/attach"), "POST pods/web-1/attach": forbidden("pods/attach")},
		},
		{name: "to nothing", arguments: []string{"attach"}, fails: "at least 1 argument"},
	}, connectable(), nil)
}

func TestPortForward(t *testing.T) {
	web := []string{"GET pods/web-1/portforward", "POST pods/web-1/portforward"}
	runAll(t, []commandTest{
		{name: "to a pod that is ready", arguments: []string{"port-forward", "web", ":http"}, fails: "not found", requests: web},
		{name: "to a port that neither the box nor its pod has", arguments: []string{"port-forward", "web", ":metrics"}, fails: "does not have a named port 'metrics'"},
		{name: "to all ports", arguments: []string{"port-forward", "mb/web"}, fails: "not found", requests: web},
		{
			name: "to a pod that is named", arguments: []string{"port-forward", "web", ":80", "--pod=web-2"}, fails: "not running",
			answers: map[string]runtime.Object{"GET pods/web-2": func() *corev1.Pod {
				pod := newPod("web-2", "web")
				pod.Status.Phase = corev1.PodPending
				return pod
			}()},
		},
		{name: "to a box without ports", arguments: []string{"port-forward", "idle"}, fails: "box idle has no TCP ports"},
		{name: "to a stack", arguments: []string{"port-forward", "mst/shop", ":80"}, fails: `"mst/shop" does not name a box`},
		{name: "to a box that is not found", arguments: []string{"port-forward", "nope", ":80"}, fails: `"nope" not found`},
		{
			name: "without the right to forward", arguments: []string{"port-forward", "web", ":80"}, fails: "forbidden", requests: web,
			answers: map[string]runtime.Object{"GET pods/web-1/portforward": forbidden("pods/portforward"), "POST pods/web-1/portforward": forbidden("pods/portforward")},
		},
		{name: "to nothing", arguments: []string{"port-forward"}, fails: "the name of a box is required"},
	}, connectable(), nil)
}
