// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
)

func TestTransitionsAreToldOnce(t *testing.T) {
	applied := func(reason string) []metav1.Condition {
		return []metav1.Condition{{Type: modelv1.ConditionApplied, Reason: reason, Message: "m"}}
	}
	progressing := func(reason string) []metav1.Condition {
		return []metav1.Condition{{Type: modelv1.ConditionProgressing, Reason: reason, Message: "m"}}
	}
	ready := func(reason string) []metav1.Condition {
		return []metav1.Condition{{Type: modelv1.ConditionReady, Reason: reason, Message: "m"}}
	}
	for _, row := range []struct {
		name        string
		before, now []metav1.Condition
		want        []string
	}{
		{"a rollout makes no progress", progressing("Progressing"), progressing("ProgressDeadlineExceeded"), []string{"Warning RolloutStalled m"}},
		{"a user pauses the Deployment", progressing("Progressing"), progressing("DeploymentPaused"), []string{"Warning DeploymentPaused m"}},
		{"a name is taken", applied("Applied"), applied("NotOwned"), []string{"Warning NotOwned m"}},
		{"a name stays taken", applied("NotOwned"), applied("NotOwned"), nil},
		{"one failure after another", applied("NotOwned"), applied("Forbidden"), []string{"Warning Forbidden m"}},
		{"a quota", applied("Applied"), applied("QuotaExceeded"), []string{"Warning QuotaExceeded m"}},
		{"an invalid child", applied("Applied"), applied("Invalid"), []string{"Warning Invalid m"}},
		{"a conflict", applied("Applied"), applied("Conflict"), []string{"Warning Conflict m"}},
		{"what is likely to pass is not told", applied("Applied"), applied("Error"), nil},
		{"a pause is not told", applied("Applied"), applied("Paused"), nil},
		{"a pod begins to fail", ready("Progressing"), ready("CrashLoopBackOff"), []string{"Warning CrashLoopBackOff m"}},
		{"a pod of a new box fails", nil, ready("ErrImagePull"), []string{"Warning ErrImagePull m"}},
		{"a pod keeps failing", ready("CrashLoopBackOff"), ready("CrashLoopBackOff"), nil},
		{"a pod fails for another reason", ready("Unschedulable"), ready("CrashLoopBackOff"), []string{"Warning CrashLoopBackOff m"}},
		{"pods no longer fail, and are not ready yet", ready("CrashLoopBackOff"), ready("Progressing"),
			[]string{"Normal PodsRecovered Pods recovered from CrashLoopBackOff: m"}},
		{"pods no longer fail, and are ready", ready("Unschedulable"), ready("Ready"),
			[]string{"Normal PodsRecovered Pods recovered from Unschedulable: m"}},
		{"it is not known whether pods still fail", ready("CrashLoopBackOff"), ready("NotApplied"), nil},
		{"a pause does not tell whether they do", ready("CrashLoopBackOff"), ready("Paused"), nil},
		{"the box becomes ready", ready("Progressing"), ready("Ready"), nil},
		{"the box waits for a load balancer", ready("Ready"), ready("LoadBalancerPending"), nil},
		{"the longest reason that an event may have", ready("Progressing"), ready(strings.Repeat("a", 1024)),
			[]string{"Warning " + strings.Repeat("a", 128) + " m"}},
		{"all is well again", applied("NotOwned"), applied("Applied"), nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := fixture.WebBox(t)
			box.Status.Conditions = row.before
			f := newTestController(t, box)
			f.recordTransitions(box, &modelv1.ModelBoxStatus{Conditions: row.now})
			if diff := cmp.Diff(row.want, f.told()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// The API refuses an event whose note is longer.
func TestNotesAreCut(t *testing.T) {
	box := fixture.WebBox(t)
	f := newTestController(t, box)
	f.eventf(box, corev1.EventTypeWarning, "Restored", "Restore", "%s had changed %s", "kubectl-edit", strings.Repeat("ü", 1000))
	note := strings.TrimPrefix(f.told()[0], "Warning Restored ")
	if len(note) > 1024 || !strings.HasSuffix(note, "ü…") {
		t.Errorf("the note has %d bytes and ends in %q", len(note), note[len(note)-8:])
	}
}

func TestARolloutIsToldOnceAndNothingElseAsOne(t *testing.T) {
	revision := func(uid types.UID, revision string) *appsv1.Deployment {
		return completeDeployment(func(d *appsv1.Deployment) {
			d.UID, d.Annotations = uid, map[string]string{"deployment.kubernetes.io/revision": revision}
		})
	}
	goingOn := func(d *appsv1.Deployment) *appsv1.Deployment {
		d.Generation++
		return d
	}
	const told = "Normal RolloutComplete 2 of 2 replicas are available"
	for _, row := range []struct {
		name string
		// status is what the box said when the process began, and looks what is found then.
		status string
		looks  []*appsv1.Deployment
		want   []string
	}{
		{"the first rollout", "", []*appsv1.Deployment{revision("a", "1")}, []string{told}},
		{"there is no Deployment yet", "", []*appsv1.Deployment{nil}, nil},
		{"a rollout that is complete", "", []*appsv1.Deployment{revision("a", "1"), revision("a", "1")}, []string{told}},
		{"a change that leaves the pods alone", "",
			[]*appsv1.Deployment{revision("a", "1"), goingOn(revision("a", "1")), revision("a", "1"), goingOn(revision("a", "1")), revision("a", "1")}, []string{told}},
		{"a new pod template", "", []*appsv1.Deployment{revision("a", "1"), goingOn(revision("a", "2")), revision("a", "2")}, []string{told, told}},
		{"a new pod template whose rollout was not seen", "", []*appsv1.Deployment{revision("a", "1"), revision("a", "2")}, []string{told, told}},
		{"a new Deployment", "", []*appsv1.Deployment{revision("a", "1"), nil, revision("b", "1")}, []string{told, told}},
		{"a process that finds a complete rollout", "RolloutComplete", []*appsv1.Deployment{revision("a", "1"), goingOn(revision("a", "1")), revision("a", "1")}, nil},
		{"a process that finds a rollout in progress", "Progressing", []*appsv1.Deployment{goingOn(revision("a", "1")), revision("a", "1")}, []string{told}},
		{"a process in which the next rollout begins", "RolloutComplete",
			[]*appsv1.Deployment{revision("a", "1"), goingOn(revision("a", "2")), revision("a", "2")}, []string{told}},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := fixture.WebBox(t)
			f := newTestController(t, box)
			if row.status != "" {
				box.Status.Conditions = []metav1.Condition{{Type: modelv1.ConditionProgressing, Reason: row.status}}
			}
			for _, deployment := range row.looks {
				if _, err := f.reconcileStatus(t.Context(), box, &status.Observation{Workload: workloadOf(deployment)}); err != nil {
					t.Fatal(err)
				}
				box = f.boxInServer(t)
			}
			if diff := cmp.Diff(row.want, f.told()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
