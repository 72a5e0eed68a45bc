// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package poddebugger

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	testingclock "k8s.io/utils/clock/testing"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
)

func names(pods []*corev1.Pod) []string {
	names := []string{}
	for _, pod := range pods {
		names = append(names, pod.Name)
	}
	return names
}

func TestSurvey(t *testing.T) {
	deleting := func(pod *corev1.Pod) { pod.DeletionTimestamp = &metav1.Time{Time: created} }
	mirror := func(pod *corev1.Pod) { pod.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "file"} }
	type pods = []*corev1.Pod
	for _, row := range []struct {
		name             string
		change           func(*modelv1.PodDebugger)
		pods             pods
		selected         int
		debugged, chosen []string
		isExpired        bool
	}{
		{"the oldest first, then by their names", withMaxPods(10),
			pods{newPod("c", 1), newPod("b", 2), newPod("a", 1), newPod("other", 9, labelled("b"))}, 3, []string{}, []string{"b", "a", "c"}, false},
		{"no more than there may be", withMaxPods(2), pods{newPod("c", 1), newPod("b", 2), newPod("a", 1)}, 3, []string{}, []string{"b", "a"}, false},
		{"those that have it count", withMaxPods(2), pods{newPod("b", 2), newPod("a", 3), newPod("c", 1, debugged())}, 3, []string{"c"}, []string{"a"}, false},
		{"boxes that are no longer selected do as well", withMaxPods(2),
			pods{newPod("b", 2), newPod("a", 3), newPod("c", 1, debugged(), labelled("b"))}, 2, []string{"c"}, []string{"a"}, false},
		{"more than there may be keep it", withMaxPods(1), pods{newPod("b", 2, debugged()), newPod("a", 3, debugged()), newPod("c", 9)}, 3, []string{"a", "b"}, []string{}, false},
		{"not one that is being deleted", withMaxPods(2), pods{newPod("a", 1, deleting), newPod("b", 1, deleting, debugged())}, 0, []string{}, []string{}, false},
		{"not one of a kubelet's own", withMaxPods(2), pods{newPod("a", 1, mirror)}, 0, []string{}, []string{}, false},
		{"none when the time is over", withTime(60), pods{newPod("a", 1), newPod("b", 1, debugged())}, 2, []string{"b"}, []string{}, true},
		{"all before", withTime(61), pods{newPod("a", 1), newPod("b", 1, debugged())}, 2, []string{"b"}, []string{"a"}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newTestController(t, newDebugger())
			f.clock.SetTime(created.Add(time.Minute))
			found, err := f.survey(newDebugger(row.change), row.pods)
			if err != nil {
				t.Fatal(err)
			}
			check(t, "selected", row.selected, found.selected)
			check(t, "debugged", row.debugged, names(found.debugged))
			check(t, "chosen", row.chosen, names(found.chosen))
			check(t, "whether it is expired", row.isExpired, found.isExpired)
		})
	}
}

func TestUpdatesThatChangeNothingAreLeftOut(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*corev1.Pod)
		want   int
	}{
		{"a version", func(pod *corev1.Pod) { pod.ResourceVersion = "2" }, 0},
		{"a condition", func(pod *corev1.Pod) {
			pod.ResourceVersion, pod.Status.Conditions = "2", []corev1.PodCondition{{Type: corev1.PodReady}}
		}, 0},
		{"a label", func(pod *corev1.Pod) { pod.ResourceVersion, pod.Labels = "2", map[string]string{"app": "b"} }, 1},
		{"the container", func(pod *corev1.Pod) {
			pod.ResourceVersion = "2"
			debugged()(pod)
		}, 1},
		{"its state", debugged(corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}), 1},
	} {
		updates := 0
		handler := relevantUpdates{cache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) { updates++ }}}
		before, err := trimPod(newPod("a", 1))
		if err != nil {
			t.Fatal(err)
		}
		after, err := trimPod(newPod("a", 1, row.change))
		if err != nil {
			t.Fatal(err)
		}
		handler.OnUpdate(before, after)
		if updates != row.want {
			t.Errorf("%s: %d updates, want %d", row.name, updates, row.want)
		}
	}
}

// BenchmarkSurvey looks at a namespace of 10,000 pods, each of which is selected.
func BenchmarkSurvey(b *testing.B) {
	pods := make([]*corev1.Pod, 0, 10_000)
	for i := range cap(pods) {
		trimmed, err := trimPod(newPod(fmt.Sprintf("a-%d", i), i))
		if err != nil {
			b.Fatal(err)
		}
		pods = append(pods, trimmed.(*corev1.Pod))
	}
	c := &Controller{For: &reconciler.For[*modelv1.PodDebugger, modelv1.PodDebuggerStatus]{}}
	c.Clock = testingclock.NewFakePassiveClock(created)
	b.ReportAllocs()
	for b.Loop() {
		if found, err := c.survey(newDebugger(), pods); err != nil || found.selected != len(pods) {
			b.Fatal(found, err)
		}
	}
}

func TestTrimPodKeepsWhatIsLookedAt(t *testing.T) {
	pod := newPod("a", 1, debugged(corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}), ofBox("web"))
	pod.Annotations = map[string]string{"kubectl.kubernetes.io/default-container": "web", "other": "gone"}
	pod.Spec.NodeName = "gone"
	trimmed, err := trimPod(pod.DeepCopy())
	if err != nil {
		t.Fatal(err)
	}
	want := pod.DeepCopy()
	want.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	delete(want.Annotations, "other")
	want.Spec.NodeName, want.Spec.Containers[0].Image = "", ""
	check(t, "what is kept", want, trimmed)
}
