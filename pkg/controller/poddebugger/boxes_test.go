// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package poddebugger

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// madeUp has the label of pods of box web, and a controller reference that a user wrote.
func madeUp(apiVersion, kind, name string, uid types.UID) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Labels[modelv1.SelectorLabel] = "web"
		pod.OwnerReferences = controlledBy(apiVersion, kind, name, uid)
	}
}

// TestPodsOfBoxes tells pods of a box from pods that a user made up so that they look like it. A box is restarted when the
// PodDebugger is deleted if a pod of it has the container, and is not if a made-up pod has.
func TestPodsOfBoxes(t *testing.T) {
	for _, row := range []struct {
		name string
		pod  func(*corev1.Pod)
		want string
	}{
		{"a pod of a box", ofBox("web"), "web"},
		{"a pod of a box that there is not", ofBox("db"), ""},
		{"a pod with nothing but the label", func(pod *corev1.Pod) { pod.Labels[modelv1.SelectorLabel] = "web" }, ""},
		{"any other pod", func(*corev1.Pod) {}, ""},
		{"a pod of a ReplicaSet that there is not", madeUp("apps/v1", "ReplicaSet", "web-1", "made-up"), ""},
		{"a pod of another ReplicaSet with the labels of the box", madeUp("apps/v1", "ReplicaSet", "another", "another-rs"), ""},
		{"a pod of a ReplicaSet that names the Deployment of the box with another UID", madeUp("apps/v1", "ReplicaSet", "former", "former-rs"), ""},
		{"a pod of a ReplicaSet of another name", madeUp("apps/v1", "ReplicaSet", "web-2", "web-rs"), ""},
		{"a pod of a ReplicaSet of another group", madeUp("example.com/v1", "ReplicaSet", "web-1", "web-rs"), ""},
		{"a pod of a StatefulSet with the UID of the ReplicaSet", madeUp("apps/v1", "StatefulSet", "web-1", "web-rs"), ""},
		{"a pod of a StatefulSet that there is not", madeUp("apps/v1", "StatefulSet", "web", "made-up"), ""},
		{"a pod of a DaemonSet that there is not", madeUp("apps/v1", "DaemonSet", "web", "made-up"), ""},
		{"a pod of a Job", madeUp("batch/v1", "Job", "web", "job"), ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			newController := func(debugger *modelv1.PodDebugger) *testController {
				f := newTestController(t, debugger, newPod("a-0", 1, debugged(), row.pod))
				f.createBox("web")
				f.createReplicaSet("another", controlledBy("apps/v1", "Deployment", "another", "another-deployment"))
				f.createReplicaSet("former", controlledBy("apps/v1", "Deployment", "web", "former-deployment"))
				return f
			}
			f := newController(newDebugger())
			f.reconcile(1, 1)
			check(t, "the box in the status", row.want, f.debugger().Status.Pods[0].Box)

			f = newController(newDebugger(restarting, protected, deleted))
			restarted := f.recordRestarts()
			f.reconcile(1, 1)
			var want []string
			if row.want != "" {
				want = []string{row.want}
			}
			check(t, "restarted boxes", want, *restarted)
			check(t, "finalizers", 0, len(f.debugger().Finalizers))
		})
	}
}

// createReplicaSet creates a ReplicaSet with the label of pods of box web and these owners. Its UID ends in "-rs".
func (f *testController) createReplicaSet(name string, owners []metav1.OwnerReference) {
	f.t.Helper()
	if err := f.cluster.Tracker().Add(&appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{
		Namespace: toolsKey.Namespace, Name: name, UID: types.UID(name + "-rs"), Labels: map[string]string{modelv1.SelectorLabel: "web"}, OwnerReferences: owners,
	}}); err != nil {
		f.t.Fatal(err)
	}
}

// TestPodsOfABoxThatIsCreatedAnew checks that only the pods of the new box count.
func TestPodsOfABoxThatIsCreatedAnew(t *testing.T) {
	f := newTestController(t, newDebugger(), newPod("a-0", 1, debugged(), ofBox("web")))
	f.createBox("web")
	f.reconcile(1, 1)
	check(t, "the box in the status", "web", f.debugger().Status.Pods[0].Box)
	if err := f.boxCache.Update(&modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Namespace: toolsKey.Namespace, Name: "web", UID: "another"}}); err != nil {
		t.Fatal(err)
	}
	f.reconcile(1, 1)
	check(t, "the box in the status when another one has its name", "", f.debugger().Status.Pods[0].Box)
}

// TestPodsThatHaveBeenReplacedRestartNoBox although a cache still has the pods before them, which have the container.
func TestPodsThatHaveBeenReplacedRestartNoBox(t *testing.T) {
	replacement := newPod("web-0", 0, ofBox("web"))
	replacement.UID = "another"
	going := newPod("web-1", 1, debugged(), ofBox("web"))
	going.DeletionTimestamp = &metav1.Time{Time: created}
	f := newTestController(t, newDebugger(restarting, protected, deleted), replacement, going)
	f.createBox("web")
	restarted := f.recordRestarts()
	cached := []*corev1.Pod{newPod("web-0", 1, debugged(), ofBox("web")), newPod("web-1", 1, debugged(), ofBox("web"))}
	if err := f.reconcileDeletion(t.Context(), f.debugger(), cached); err != nil {
		t.Fatal(err)
	}
	check(t, "restarted boxes", []string(nil), *restarted)
	check(t, "finalizers", 0, len(f.debugger().Finalizers))
}
