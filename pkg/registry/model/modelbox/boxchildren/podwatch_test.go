// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package boxchildren

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// TestWatchPodsTellsThoseThatTheWorkloadControls through a rollout, and the deletion of the workload before its pods.
func TestWatchPodsTellsThoseThatTheWorkloadControls(t *testing.T) {
	deployment := &appsv1.Deployment{ObjectMeta: controlled("web", "deployment", "model.github.com/v1", "ModelBox web", "box"),
		Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{modelv1.SelectorLabel: "web"}}}}
	replicaSet := func(name string, uid, deployment types.UID) *appsv1.ReplicaSet {
		return &appsv1.ReplicaSet{ObjectMeta: controlled(name, uid, "apps/v1", "Deployment web", deployment)}
	}
	pod := func(name, replicaSetName string, replicaSet types.UID) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: controlled(name, types.UID(name), "apps/v1", "ReplicaSet "+replicaSetName, replicaSet), Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}}}}
	}
	client := fake.NewClientset(deployment, replicaSet("web-1", "old", "deployment"), replicaSet("foreign", "foreign", "another"),
		pod("web-1-a", "web-1", "old"), pod("foreign-a", "foreign", "foreign"))
	box := newBox(modelv1.WorkloadDeployment)
	box.UID = "box"
	changed := make(chan struct{}, 1)
	pods, err := NewReader(client, nil).WatchPods(t.Context(), box, func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	expect := func(want ...string) {
		t.Helper()
		deadline := time.After(time.Minute)
		for {
			found, err := pods(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for i := range found {
				names = append(names, found[i].Name)
			}
			slices.Sort(names)
			if cmp.Equal(want, names) {
				return
			}
			select {
			case <-changed:
			case <-deadline:
				t.Fatalf("there are %v, want %v", names, want)
			}
		}
	}
	expect("web-1-a")

	apps, core, namespace := client.AppsV1(), client.CoreV1(), box.Namespace
	if _, err := apps.ReplicaSets(namespace).Create(t.Context(), replicaSet("web-2", "new", "deployment"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := core.Pods(namespace).Create(t.Context(), pod("web-2-a", "web-2", "new"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	expect("web-1-a", "web-2-a")

	for _, err := range []error{
		apps.Deployments(namespace).Delete(t.Context(), "web", metav1.DeleteOptions{}),
		apps.ReplicaSets(namespace).Delete(t.Context(), "web-2", metav1.DeleteOptions{}),
		core.Pods(namespace).Delete(t.Context(), "web-1-a", metav1.DeleteOptions{}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	expect("web-2-a")
}

// All who follow a box share one watch of its pods, which ends with the last of them.
func TestWatchPodsOfABoxShareOneWatch(t *testing.T) {
	client := fake.NewClientset()
	var begun, running atomic.Int32
	client.PrependWatchReactor("pods", func(action clienttesting.Action) (bool, watch.Interface, error) {
		watcher, err := client.Tracker().Watch(action.GetResource(), action.GetNamespace())
		if err != nil {
			return true, nil, err
		}
		begun.Add(1)
		running.Add(1)
		return true, &countedWatch{Interface: watcher, stopped: sync.OnceFunc(func() { running.Add(-1) })}, nil
	})
	reader := NewReader(client, nil)
	box, other := newBox(modelv1.WorkloadDeployment), newBox(modelv1.WorkloadDeployment)
	box.UID, other.UID = "box", "other"
	follow := func(ctx context.Context, box *modelv1.ModelBox) {
		t.Helper()
		if _, err := reader.WatchPods(ctx, box, func() {}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	first, cancelFirst := context.WithCancel(ctx)
	follow(first, box)
	for range 20 {
		follow(ctx, box)
	}
	expectWatches := func(when string, wantBegun, wantRunning int32) {
		t.Helper()
		deadline := time.After(time.Minute)
		for begun.Load() != wantBegun || running.Load() != wantRunning {
			select {
			case <-time.After(time.Millisecond):
			case <-deadline:
				t.Fatalf("%s: %d watches run of %d, want %d of %d", when, running.Load(), begun.Load(), wantRunning, wantBegun)
			}
		}
	}
	expectWatches("with 21 of a box", 1, 1)
	follow(ctx, other)
	expectWatches("with one of another box of the same name", 2, 2)
	cancelFirst()
	follow(ctx, box)
	expectWatches("after the first one has ended", 2, 2)
	cancel()
	expectWatches("after all have ended", 2, 0)
	follow(t.Context(), box)
	expectWatches("with one that restarts", 3, 1)
}

// countedWatch is a watch that says when it is stopped.
type countedWatch struct {
	watch.Interface
	stopped func()
}

func (w *countedWatch) Stop() {
	w.stopped()
	w.Interface.Stop()
}

func TestIsOrphaned(t *testing.T) {
	box := newBox(modelv1.WorkloadDeployment)
	for _, row := range []struct {
		name       string
		controller types.UID
		want       bool
	}{
		{"whose workload has a controller", "box", false},
		{"whose workload has no controller", "", true},
	} {
		deployment := &appsv1.Deployment{ObjectMeta: controlled("web", "deployment", "model.github.com/v1", "ModelBox web", row.controller)}
		if got, err := NewReader(fake.NewClientset(deployment), nil).IsOrphaned(t.Context(), box); err != nil || got != row.want {
			t.Errorf("a box %s: %t, %v", row.name, got, err)
		}
	}
	if got, err := NewReader(fake.NewClientset(), nil).IsOrphaned(t.Context(), box); err != nil || got {
		t.Errorf("a box without a workload: %t, %v", got, err)
	}
}
