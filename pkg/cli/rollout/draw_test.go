// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

var (
	update = flag.Bool("update", false, "write what is drawn into testdata")
	now    = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
)

// at is so many seconds before now.
func at(seconds int) metav1.Time {
	return metav1.NewTime(now.Add(-time.Duration(seconds) * time.Second))
}

// newBox returns a box of four pods whose rollout of its second generation is in progress.
func newBox() *modelv1.ModelBox {
	box := &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Name: "web", Generation: 2}}
	box.Spec.Replicas, box.Spec.MinReadySeconds, box.Spec.ProgressDeadlineSeconds = ptr.To[int32](4), ptr.To[int32](3), ptr.To[int32](120)
	box.Status.ObservedGeneration, box.Status.Replicas, box.Status.UpdatedReplicas, box.Status.AvailableReplicas = 2, 4, 1, 3
	box.Status.Rollout = &modelv1.ModelBoxRolloutStatus{
		Phase: modelv1.RolloutProgressing, StartedAt: at(60), Stable: &modelv1.ModelBoxRolloutRevision{Name: "web-5d8f7c9b6"},
	}
	setConditions(box, "True", "False", modelv1.ReasonProgressing, "1 out of 4 new replicas have been updated")
	return box
}

// setConditions sets the conditions Progressing, Ready and Applied, and Stalled for a reason of a failure.
func setConditions(box *modelv1.ModelBox, progressing, ready metav1.ConditionStatus, reason, message string) {
	condition := func(name string, status metav1.ConditionStatus) metav1.Condition {
		return metav1.Condition{Type: name, Status: status, Reason: reason, Message: message, ObservedGeneration: box.Generation, LastTransitionTime: at(50)}
	}
	box.Status.Conditions = []metav1.Condition{
		condition(modelv1.ConditionProgressing, progressing), condition(modelv1.ConditionReady, ready), condition(modelv1.ConditionApplied, metav1.ConditionTrue),
	}
	if progressing == metav1.ConditionFalse && ready == metav1.ConditionFalse {
		box.Status.Conditions = append(box.Status.Conditions, condition(modelv1.ConditionStalled, metav1.ConditionTrue))
	}
}

func newPod(label, hash string, readyFor int) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: at(40), Labels: map[string]string{modelv1.SelectorLabel: "web", label: hash}}}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}
	if readyFor > 0 {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: at(readyFor)}}
	}
	return pod
}

var twoRevisions = []modelv1.ModelBoxRevision{
	{Revision: 1, Name: "web-5d8f7c9b6", Images: []string{"nginx:1.7.9"}}, {Revision: 2, Name: "web-7c9b65d8f", Images: []string{"nginx:1.9.1", "log:2"}},
}

const (
	hashLabel     = "pod-template-hash"
	revisionLabel = "controller-revision-hash"
)

func TestDrawing(t *testing.T) {
	old, updated, terminating := newPod(hashLabel, "5d8f7c9b6", 1000), newPod(hashLabel, "7c9b65d8f", 1), newPod(hashLabel, "5d8f7c9b6", 1000)
	terminating.DeletionTimestamp = ptr.To(at(1))
	for name, test := range map[string]struct {
		view   func(v *boxView)
		colour bool
	}{
		"progressing": {view: func(*boxView) {}},
		"colours":     {view: func(*boxView) {}, colour: true},
		"failing": {view: func(v *boxView) {
			setConditions(v.box, "True", "False", modelv1.ReasonProgressing, "1 out of 4 new replicas have been updated")
			v.box.Status.Conditions[1].Reason, v.box.Status.Conditions[1].Message = "ErrImagePull", "pod web-7c9b65d8f-x:\nnot found"
		}},
		"rolled-back": {view: func(v *boxView) {
			v.box.Status.Rollout.Phase, v.box.Status.Rollout.Reason = modelv1.RolloutRolledBack, "ErrImagePull"
			v.box.Status.Rollout.FailedRevisions = []modelv1.ModelBoxFailedRevision{{Name: "web-7c9b65d8f"}}
			setConditions(v.box, "False", "False", modelv1.ReasonRolledBack, "the rollout has failed: ErrImagePull")
			v.revisions = []modelv1.ModelBoxRevision{twoRevisions[1], {Revision: 3, Name: "web-5d8f7c9b6", Images: []string{"nginx:1.7.9"}}}
		}},
		"complete": {view: func(v *boxView) {
			v.box.Status.Rollout.Phase, v.box.Status.Rollout.Stable.Name = modelv1.RolloutComplete, "web-7c9b65d8f"
			setConditions(v.box, "False", "True", modelv1.ReasonRolloutComplete, "4 of 4 replicas are available")
			available := newPod(hashLabel, "7c9b65d8f", 30)
			v.pods = []*corev1.Pod{available, available, available, available, terminating}
		}},
		"in-steps": {view: func(v *boxView) {
			v.box.Status.Rollout.Step, v.box.Status.Rollout.Weight = ptr.To[int32](1), ptr.To[int32](25)
			setConditions(v.box, "True", "False", modelv1.ReasonProgressing, `step 1 of 2 (weight 25); waiting for "kubectl modelbox promote web"`)
			candidate := newPod(hashLabel, "6c5d4f7b8", 30)
			candidate.Labels[modelv1.CandidateLabel] = "true"
			candidate.Spec.Containers = []corev1.Container{{Image: "nginx:1.9.1"}}
			v.pods, v.revisions = []*corev1.Pod{old, old, old, candidate}, twoRevisions[:1]
		}},
		"job": {view: func(v *boxView) {
			v.box.Status.Rollout.Jobs = []modelv1.ModelBoxRolloutJob{{Name: "web-before-5d8f7c9b61", Type: modelv1.JobBefore, Phase: modelv1.JobRunning}}
			setConditions(v.box, "True", "False", modelv1.ReasonProgressing, "waiting for Job web-before-5d8f7c9b61: 1 of 7 attempts failed")
			v.pods, v.revisions = []*corev1.Pod{old, old, old, old}, twoRevisions[:1]
		}},
		"checks": {colour: true, view: func(v *boxView) {
			five := func(name string) modelv1.ModelBoxRolloutCheck {
				return modelv1.ModelBoxRolloutCheck{Name: name, Count: ptr.To[int32](5)}
			}
			v.box.Spec.Rollout = &modelv1.ModelBoxRollout{Checks: []modelv1.ModelBoxRolloutCheck{five("errors"), five("latency"), five("load"), {Name: "queue"}}}
			v.box.Status.Rollout.Checks = []modelv1.ModelBoxRolloutCheckStatus{
				{Name: "errors", Successes: 2, Value: "0.01"},
				{Name: "latency", Successes: 4, Failures: 1, Value: "0.7", Message: "0.7 is more than 0.5"},
				{Name: "load", Successes: 5, Inconclusive: 2, Message: "no data"},
				{Name: "queue", Successes: 1, Value: "0"},
				{Name: "removed", Successes: 1, Value: "0"},
			}
		}},
		"statefulset": {view: func(v *boxView) {
			v.box.Status.Rollout = nil
			v.pods = []*corev1.Pod{newPod(revisionLabel, "web-5d8f7c9b6", 100), newPod(revisionLabel, "web-7c9b65d8f", 100)}
		}},
		"without-the-right-to-list-pods":   {view: func(v *boxView) { v.pods, v.revisions = nil, nil }},
		"without-the-right-to-the-history": {view: func(v *boxView) { v.revisions = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			view := &boxView{box: newBox(), pods: []*corev1.Pod{old, old, old, updated, terminating}, revisions: twoRevisions}
			test.view(view)
			d := &drawing{now: now, colour: test.colour}
			d.addBox("", view.box.Name, view, true)
			compare(t, name, d.fit(100, 24))
		})
	}
}

func TestDrawingOfStack(t *testing.T) {
	t.Parallel()
	stack := &modelv1.ModelStack{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
	stack.Status.Conditions = []metav1.Condition{{Type: modelv1.ConditionReady, Status: "False", Reason: "Progressing", Message: "1 of 3 components are ready"}}
	stack.Status.Components = []modelv1.ModelStackComponentStatus{
		{Name: "db", State: modelv1.ComponentReady}, {Name: "web", State: modelv1.ComponentProgressing}, {Name: "cache", State: modelv1.ComponentWaiting, WaitingFor: []string{"web"}},
	}
	web := &boxView{box: newBox(), pods: []*corev1.Pod{newPod(hashLabel, "5d8f7c9b6", 1000), newPod(hashLabel, "7c9b65d8f", 0)}, revisions: twoRevisions}
	db := &boxView{box: newBox()}
	setConditions(db.box, "False", "True", modelv1.ReasonRolloutComplete, "4 of 4 replicas are available")
	for name, height := range map[string]int{"stack": 24, "small": 6} {
		d := &drawing{now: now}
		d.addStack(stack, map[string]*boxView{"web": web, "db": db})
		compare(t, name, d.fit(80, height))
	}
}

// compare compares lines with the lines of a file. The file has words in place of control characters, so that people can read it.
func compare(t *testing.T, name string, lines []string) {
	t.Helper()
	got := strings.ReplaceAll(strings.Join(lines, "\n")+"\n", "\x1b", "ESC")
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
}

func TestLogPrintsEachChangeOnce(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l := &log{out: &out}
	box := newBox()
	l.show(box)
	box = box.DeepCopy()
	box.Status.PodNames = []string{"web-1"}
	l.show(box)
	setConditions(box, "True", "False", modelv1.ReasonProgressing, "3 of 4 updated replicas are available")
	l.show(box)
	setConditions(box, "False", "True", modelv1.ReasonRolloutComplete, "4 of 4 replicas are available")
	l.show(box)
	l.complete(box)
	want := `Waiting for modelbox "web" rollout to finish: 1 out of 4 new replicas have been updated...
Waiting for modelbox "web" rollout to finish: 3 of 4 updated replicas are available...
modelbox "web" successfully rolled out
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
