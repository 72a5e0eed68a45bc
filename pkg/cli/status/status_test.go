// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubectl/pkg/util/term"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/cliutil"
)

var update = flag.Bool("update", false, "write what is printed into testdata")

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// metaOf is the metadata of an object of some age that another one controls, unless that has no name. Names are UIDs as well.
func metaOf(name, owner string, age time.Duration) metav1.ObjectMeta {
	m := metav1.ObjectMeta{
		Namespace: "default", Name: name, UID: types.UID(name), Generation: 1, CreationTimestamp: metav1.NewTime(now.Add(-age)),
	}
	if owner != "" {
		m.OwnerReferences = []metav1.OwnerReference{{Name: owner, UID: types.UID(owner), Controller: ptr.To(true)}}
	}
	return m
}

func newBox(name, owner string, status metav1.ConditionStatus, reason, message string) *modelv1.ModelBox {
	box := &modelv1.ModelBox{ObjectMeta: metaOf(name, owner, time.Hour), Spec: modelv1.ModelBoxSpec{Replicas: ptr.To[int32](2)}}
	box.Status.Conditions = []metav1.Condition{{
		Type: modelv1.ConditionReady, Status: status, ObservedGeneration: 1, Reason: reason, Message: message,
	}}
	return box
}

func newPod(name, owner string, change func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metaOf(name, owner, time.Minute)}
	pod.Spec.Containers = make([]corev1.Container, 1)
	pod.Status.Phase = corev1.PodRunning
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", Ready: true}}
	if change != nil {
		change(pod)
	}
	return pod
}

// rollout is a box in the middle of a rollout that fails.
func rollout() (*world, *cliutil.Objects) {
	box := newBox("web", "", metav1.ConditionFalse, "ImagePullBackOff", "1 of 3 pods: image nginx:nope\nnot found")
	box.Status.ReadyReplicas = 2
	box.Status.Conditions = append(box.Status.Conditions, metav1.Condition{
		Type: modelv1.ConditionStalled, Status: metav1.ConditionTrue, ObservedGeneration: 1,
	})
	deployment := &appsv1.Deployment{ObjectMeta: metaOf("web", "web", time.Hour), Spec: appsv1.DeploymentSpec{Replicas: ptr.To[int32](2)}}
	deployment.UID, deployment.Status.ReadyReplicas = "deployment", 2
	set := func(name string, desired, ready int32, revision string) *appsv1.ReplicaSet {
		s := &appsv1.ReplicaSet{ObjectMeta: metaOf(name, "deployment", time.Hour), Spec: appsv1.ReplicaSetSpec{Replicas: &desired}}
		s.Annotations = map[string]string{"deployment.kubernetes.io/revision": revision}
		s.Status.Replicas, s.Status.ReadyReplicas = desired, ready
		return s
	}
	w := &world{
		boxes:       []*modelv1.ModelBox{box},
		deployments: []*appsv1.Deployment{deployment},
		replicaSets: []*appsv1.ReplicaSet{set("web-old", 0, 0, "1"), set("web-now", 2, 2, "2"), set("web-new", 1, 0, "3")},
		pods: []*corev1.Pod{
			newPod("web-now-b", "web-now", func(pod *corev1.Pod) { pod.Status.ContainerStatuses[0].RestartCount = 3 }),
			newPod("web-now-a", "web-now", nil),
			newPod("web-new-a", "web-new", func(pod *corev1.Pod) {
				pod.Status.Phase = corev1.PodPending
				pod.Status.ContainerStatuses[0].Ready = false
				pod.Status.ContainerStatuses[0].State.Waiting = &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "not found"}
			}),
			newPod("other", "elsewhere", nil),
		},
	}
	event := func(uid, eventType, reason string, ago time.Duration) *corev1.Event {
		return &corev1.Event{
			InvolvedObject: corev1.ObjectReference{UID: types.UID(uid)}, Type: eventType, Reason: reason,
			Message: "it is " + reason, LastTimestamp: metav1.NewTime(now.Add(-ago)),
		}
	}
	w.events = []*corev1.Event{event("web-new-a", corev1.EventTypeWarning, "Failed", time.Second), event("other", corev1.EventTypeNormal, "Pulled", 0)}
	for i := range maxEvents {
		w.events = append(w.events, event("web", corev1.EventTypeNormal, "Updated", time.Duration(i+2)*time.Minute))
	}
	return w, &cliutil.Objects{Boxes: w.boxes}
}

// starting is a stack of which one component is ready, one starts, one waits and one is outside, and a box that is none of its.
func starting() (*world, *cliutil.Objects) {
	stack := &modelv1.ModelStack{ObjectMeta: metaOf("shop", "", time.Hour)}
	stack.Status = modelv1.ModelStackStatus{ReadyComponents: 2, TotalComponents: 4, Components: []modelv1.ModelStackComponentStatus{
		{Name: "db", State: modelv1.ComponentReady},
		{Name: "queue", State: modelv1.ComponentProgressing},
		{Name: "web", State: modelv1.ComponentWaiting, WaitingFor: []string{"queue"}},
		{Name: "mail", State: modelv1.ComponentReady},
	}}
	component := func(name string, box *modelv1.ModelBox) *modelv1.ModelBox {
		box.Labels = map[string]string{modelv1.ComponentLabel: name}
		return box
	}
	db := component("db", newBox("shop-db", "shop", metav1.ConditionTrue, "Ready", "2 of 2 pods are ready"))
	db.Status.ReadyReplicas = 2
	queue := component("queue", newBox("shop-queue", "shop", metav1.ConditionFalse, "Progressing", "0 of 2 pods are available"))
	other := newBox("other", "", metav1.ConditionTrue, "Ready", "")
	other.Namespace = "elsewhere"
	w := &world{
		boxes: []*modelv1.ModelBox{db, queue, other},
		statefulSets: []*appsv1.StatefulSet{{
			ObjectMeta: metaOf("db-set", "shop-db", time.Hour), Status: appsv1.StatefulSetStatus{ReadyReplicas: 2},
			Spec: appsv1.StatefulSetSpec{Replicas: ptr.To[int32](2)},
		}},
		daemonSets: []*appsv1.DaemonSet{{
			ObjectMeta: metaOf("queue-set", "shop-queue", time.Hour), Status: appsv1.DaemonSetStatus{DesiredNumberScheduled: 2},
		}},
		pods: []*corev1.Pod{
			newPod("queue-a", "queue-set", func(pod *corev1.Pod) {
				pod.Status.Phase = corev1.PodPending
				pod.Status.ContainerStatuses = nil
				pod.Status.Conditions = []corev1.PodCondition{{
					Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/2 nodes are available",
				}}
			}),
			newPod("queue-b", "queue-set", func(pod *corev1.Pod) { pod.DeletionTimestamp = &metav1.Time{Time: now} }),
		},
	}
	return w, &cliutil.Objects{Stacks: []*modelv1.ModelStack{stack}, Boxes: w.boxes}
}

func TestGolden(t *testing.T) {
	for name, test := range map[string]struct {
		world   func() (*world, *cliutil.Objects)
		printer printer
	}{
		"rollout":    {rollout, printer{now: now}},
		"colours":    {rollout, printer{now: now, colour: true}},
		"stack":      {starting, printer{now: now}},
		"namespaces": {starting, printer{now: now, withNamespace: true}},
	} {
		t.Run(name, func(t *testing.T) {
			world, selected := test.world()
			roots := world.trees(selected)
			var out bytes.Buffer
			test.printer.printTrees(&out, roots)
			test.printer.printEvents(&out, roots, world.events)
			got := strings.ReplaceAll(out.String(), "\x1b", "ESC")
			path := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestFrameLeavesOutWhatDoesNotFit(t *testing.T) {
	for _, test := range []struct {
		name string
		size *term.TerminalSize
		want string
	}{
		{"no size", nil, "\x1b[Ha\x1b[K\r\nb\x1b[K\r\nc\x1b[K\r\n\x1b[J"},
		{"it fits", &term.TerminalSize{Height: 4}, "\x1b[Ha\x1b[K\r\nb\x1b[K\r\nc\x1b[K\r\n\x1b[J"},
		{"it is too long", &term.TerminalSize{Height: 3}, "\x1b[Ha\x1b[K\r\n… 2 more lines\x1b[K\r\n\x1b[J"},
	} {
		if diff := cmp.Diff(test.want, frame("a\nb\nc\n", test.size)); diff != "" {
			t.Errorf("%s: -want +got:\n%s", test.name, diff)
		}
	}
}
