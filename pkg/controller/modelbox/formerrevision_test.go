// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/rollouts"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
)

// updatingSet returns a StatefulSet of three replicas that updates its pods to the revision "web-2".
func updatingSet(changes ...func(*appsv1.StatefulSet)) *appsv1.StatefulSet {
	set := completeStatefulSet(changes...)
	set.Status.UpdatedReplicas = 1
	return set
}

// podOfRevision returns a pod of a StatefulSet with that revision, which has been ready for a minute.
func podOfRevision(now time.Time, ordinal int, revision string, changes ...func(*corev1.Pod)) *corev1.Pod {
	pod := podOfSet(now, ordinal)
	pod.Labels[appsv1.StatefulSetRevisionLabel], pod.ResourceVersion = revision, "7"
	for _, change := range changes {
		change(pod)
	}
	return pod
}

// unready makes a pod not ready since then.
func unready(since time.Time) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Status.Conditions[0].Status, pod.Status.Conditions[0].LastTransitionTime = corev1.ConditionFalse, metav1.NewTime(since)
	}
}

func TestBlockingPod(t *testing.T) {
	now := time.Now()
	asItIs := func(*appsv1.StatefulSet) {}
	wanted := func(ordinal int, changes ...func(*corev1.Pod)) *corev1.Pod {
		return podOfRevision(now, ordinal, "web-2", changes...)
	}
	former := func(ordinal int, changes ...func(*corev1.Pod)) *corev1.Pod {
		return podOfRevision(now, ordinal, "web-1", changes...)
	}
	fails, justReady := unready(now.Add(-time.Minute)), func(pod *corev1.Pod) { pod.Status.Conditions[0].LastTransitionTime = metav1.NewTime(now) }
	orphaned := func(pod *corev1.Pod) { pod.OwnerReferences = nil }
	foreign := func(pod *corev1.Pod) { pod.OwnerReferences[0].UID = "former" }
	for _, row := range []struct {
		name string
		set  func(*appsv1.StatefulSet)
		pods []*corev1.Pod
		want string
	}{
		{"the last pod fails", asItIs, []*corev1.Pod{wanted(0), wanted(1), former(2, fails)}, "web-2"},
		{"the first pod fails, and the StatefulSet has never updated another", asItIs, []*corev1.Pod{former(0, fails)}, "web-0"},
		{"the first of several that fail", asItIs, []*corev1.Pod{former(0), former(1, fails), former(2, fails)}, "web-1"},
		{"a pod that has no condition yet", asItIs, []*corev1.Pod{former(0, func(pod *corev1.Pod) { pod.Status.Conditions = nil })}, "web-0"},
		{"all former pods are ready", asItIs, []*corev1.Pod{former(0), former(1), former(2)}, ""},
		{"a former pod is ready, and not available yet", func(set *appsv1.StatefulSet) { set.Spec.MinReadySeconds = 10 },
			[]*corev1.Pod{former(0, justReady), former(1, fails)}, ""},
		{"the pod that fails has the wanted revision", asItIs, []*corev1.Pod{wanted(0), wanted(1), wanted(2, fails)}, ""},
		{"a pod of the wanted revision is waited for before", asItIs, []*corev1.Pod{wanted(0, fails), former(1, fails)}, ""},
		{"the pod before is not there, or on its way out", asItIs, []*corev1.Pod{wanted(0), former(2, fails)}, ""},
		{"the pod is not adopted yet", asItIs, []*corev1.Pod{former(0, fails, orphaned)}, ""},
		{"a pod of another StatefulSet has its name", asItIs, []*corev1.Pod{former(0, fails, foreign)}, ""},
		{"a pod beyond the replicas", asItIs, []*corev1.Pod{wanted(0), wanted(1), wanted(2), former(3, fails)}, ""},
		{"the ordinals begin with another number", func(set *appsv1.StatefulSet) { set.Spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: 2} },
			[]*corev1.Pod{former(1, fails), wanted(2), former(3, fails)}, "web-3"},
		{"a StatefulSet that waits for no pod", func(set *appsv1.StatefulSet) { set.Spec.PodManagementPolicy = appsv1.ParallelPodManagement },
			[]*corev1.Pod{former(0, fails)}, ""},
		{"a StatefulSet that updates no pod", func(set *appsv1.StatefulSet) {
			set.Spec.UpdateStrategy = appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType}
		}, []*corev1.Pod{former(0, fails)}, ""},
		{"a user has partitioned the StatefulSet", func(set *appsv1.StatefulSet) { set.Spec.UpdateStrategy.RollingUpdate.Partition = ptr.To[int32](1) },
			[]*corev1.Pod{former(0, fails)}, ""},
		{"the pod is in the partition of the StatefulSet", func(set *appsv1.StatefulSet) { set.Spec.UpdateStrategy.RollingUpdate.Partition = ptr.To[int32](1) },
			[]*corev1.Pod{former(0), former(1, fails)}, "web-1"},
		{"the spec of the StatefulSet is not observed yet", func(set *appsv1.StatefulSet) { set.Generation++ }, []*corev1.Pod{former(0, fails)}, ""},
		{"the StatefulSet is being deleted", func(set *appsv1.StatefulSet) { set.DeletionTimestamp = ptr.To(metav1.Now()) }, []*corev1.Pod{former(0, fails)}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := ""
			if pod := rollouts.BlockingPod(updatingSet(row.set), row.pods, now); pod != nil {
				got = pod.Name
			}
			check(t, "pod", row.want, got)
		})
	}
}

// updateWithPod returns a controller whose box has a StatefulSet that updates its pods, of which there is this one.
func updateWithPod(t *testing.T, pod *corev1.Pod) *testController {
	t.Helper()
	f := newTestController(t, statefulBox(t), pod.DeepCopy())
	f.converge(t)
	sets := f.cluster.AppsV1().StatefulSets(fixture.WebKey.Namespace)
	set, err := sets.Get(t.Context(), fixture.WebKey.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	set.Status = updatingSet().Status
	set.Status.ObservedGeneration = set.Generation
	if _, err := sets.UpdateStatus(t.Context(), set, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	f.catchUp(t)
	pod.OwnerReferences[0].UID = set.UID
	f.cache(t, pod)
	return f
}

func TestBlockingPodIsDeleted(t *testing.T) {
	const backOff = "Back-off pulling image"
	now := time.Now()
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	noImage := waiting("web", "ImagePullBackOff", backOff)
	deletes := []string{"get statefulsets web", "delete pods web-0"}
	for _, row := range []struct {
		name   string
		pod    *corev1.Pod
		want   []string
		events []string
		// requeued says that it will be deleted later.
		requeued bool
	}{
		{"a pod whose image cannot be pulled", podOfRevision(now, 0, "web-1", unready(ago(status.StartTimeout)), noImage), deletes,
			[]string{"Normal DeletedPod Deleted pod web-0 of former revision web-1, which kept the StatefulSet from its update: pod web-0, container web: " + backOff}, false},
		{"a pod that has just begun to fail", podOfRevision(now, 0, "web-1", unready(ago(time.Second)), noImage), nil, nil, true},
		{"a pod that runs and may get ready", podOfRevision(now, 0, "web-1", unready(ago(time.Minute))), nil, nil, true},
		{"a pod that runs and will not get ready", podOfRevision(now, 0, "web-1", unready(ago(helper.DefaultProgressDeadline))), deletes,
			[]string{"Normal DeletedPod Deleted pod web-0 of former revision web-1, which kept the StatefulSet from its update: pod web-0 is not ready"}, false},
		{"a pod of the wanted revision", podOfRevision(now, 0, "web-2", unready(ago(time.Hour)), noImage), nil,
			[]string{"Warning ImagePullBackOff pod web-0, container web: " + backOff}, false},
		{"a pod that is ready", podOfRevision(now, 0, "web-1"), nil, nil, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := updateWithPod(t, row.pod)
			f.told()
			again := f.mustReconcile(t)
			var requests []string
			for _, request := range f.requests() {
				if !strings.Contains(request, "modelboxes") {
					requests = append(requests, request)
				}
			}
			check(t, "requests", row.want, requests)
			check(t, "events", row.events, f.told())
			check(t, "requeued", row.requeued, again > 0 && again < helper.DefaultProgressDeadline)
			for _, action := range f.cluster.Actions() {
				if deletion, ok := action.(clienttesting.DeleteAction); ok {
					preconditions := deletion.GetDeleteOptions().Preconditions
					check(t, "preconditions", &metav1.Preconditions{UID: &row.pod.UID, ResourceVersion: &row.pod.ResourceVersion}, preconditions)
				}
			}
		})
	}
}

func TestBlockingPodIsLeftAlone(t *testing.T) {
	now := time.Now()
	conflict := apierrors.NewConflict(corev1.Resource("pods"), "web-0", errors.New("it has changed"))
	for _, row := range []struct {
		name   string
		change func(t *testing.T, f *testController)
		// tried says that a request is sent that does not delete it.
		tried bool
	}{
		{"while the box is paused", func(t *testing.T, f *testController) {
			f.update(t, func(box *modelv1.ModelBox) { box.Spec.Paused = true })
			f.catchUp(t)
		}, false},
		{"if the StatefulSet is to update its pods to another revision by now", func(t *testing.T, f *testController) {
			sets := f.cluster.AppsV1().StatefulSets(fixture.WebKey.Namespace)
			set, err := sets.Get(t.Context(), fixture.WebKey.Name, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			set.Status.UpdateRevision = "web-1"
			if _, err := sets.UpdateStatus(t.Context(), set, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
			f.cluster.ClearActions()
		}, false},
		{"if it is not as the cache has it", func(_ *testing.T, f *testController) {
			f.cluster.PrependReactor("delete", "pods", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, conflict })
		}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := updateWithPod(t, podOfRevision(now, 0, "web-1", unready(now.Add(-time.Hour)), waiting("web", "ImagePullBackOff", "no")))
			row.change(t, f)
			f.told()
			f.mustReconcile(t)
			check(t, "a request to delete it", row.tried, slices.Contains(f.requests(), "delete pods web-0"))
			for _, event := range f.told() {
				if strings.Contains(event, "DeletedPod") {
					t.Errorf("an event says %q", event)
				}
			}
		})
	}
}

func TestBoxSaysThatABlockingPodMayNotBeDeleted(t *testing.T) {
	now := time.Now()
	f := updateWithPod(t, podOfRevision(now, 0, "web-1", unready(now.Add(-time.Hour)), waiting("web", "ImagePullBackOff", "no")))
	f.cluster.PrependReactor("delete", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(corev1.Resource("pods"), "web-0", errors.New("no right to delete it"))
	})
	f.told()
	if _, err := f.ReconcileKey(t.Context(), fixture.WebKey); !apierrors.IsForbidden(err) {
		t.Errorf("got error %v, want one that is tried again with a growing delay", err)
	}
	const forbidden = `pods "web-0" is forbidden: no right to delete it`
	conditions := f.boxInServer(t).Status.Conditions
	check(t, "message of Applied", forbidden, messageOf(t, conditions, modelv1.ConditionApplied))
	check(t, "message of Ready", forbidden, messageOf(t, conditions, modelv1.ConditionReady))
	check(t, "message of Stalled", forbidden, messageOf(t, conditions, modelv1.ConditionStalled))
	check(t, "events", []string{"Warning Forbidden " + forbidden}, f.told())
}

func TestFailuresOfAFormerRevisionAreNotNamed(t *testing.T) {
	now := time.Now()
	noImage := func(pod *corev1.Pod) {
		unready(now.Add(-time.Minute))(pod)
		waiting("web", "ImagePullBackOff", "no such image "+pod.Name)(pod)
	}
	for _, row := range []struct {
		name            string
		paused          bool
		set             func(*appsv1.StatefulSet)
		pods            []*corev1.Pod
		reason, message string
	}{
		{"a pod of the former revision fails", false, func(*appsv1.StatefulSet) {},
			[]*corev1.Pod{podOfRevision(now, 0, "web-2"), podOfRevision(now, 1, "web-1", noImage)},
			modelv1.ReasonProgressing, "pod web-1 is of a former revision and not ready, and will be replaced"},
		{"a pod of the wanted revision fails as well", false, func(*appsv1.StatefulSet) {},
			[]*corev1.Pod{podOfRevision(now, 0, "web-1", noImage), podOfRevision(now, 2, "web-2", noImage)},
			"ImagePullBackOff", "pod web-2, container web: no such image web-2"},
		{"pods of the former revision are ready", false, func(*appsv1.StatefulSet) {},
			[]*corev1.Pod{podOfRevision(now, 0, "web-1"), podOfRevision(now, 1, "web-1")},
			modelv1.ReasonProgressing, "1 out of 3 new replicas have been updated"},
		{"the box is paused", true, func(*appsv1.StatefulSet) {},
			[]*corev1.Pod{podOfRevision(now, 1, "web-1", noImage)},
			"ImagePullBackOff", "pod web-1, container web: no such image web-1"},
		{"a user has partitioned the StatefulSet", false, func(set *appsv1.StatefulSet) { set.Spec.UpdateStrategy.RollingUpdate.Partition = ptr.To[int32](2) },
			[]*corev1.Pod{podOfRevision(now, 1, "web-1", noImage)},
			"ImagePullBackOff", "pod web-1, container web: no such image web-1"},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := statefulBox(t)
			box.Spec.Paused = row.paused
			conditions := status.ConditionsOf(box, &status.Observation{Workload: kinds.AsWorkload(updatingSet(row.set)), Pods: row.pods, Now: now})
			check(t, "message", row.message, messageOf(t, conditions, modelv1.ConditionReady))
			check(t, "conditions", "False "+row.reason, summarize(conditions).ready)
		})
	}
}
