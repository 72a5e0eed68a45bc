// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestTransitionsAreToldOnce(t *testing.T) {
	applied := func(reason string) []metav1.Condition {
		return []metav1.Condition{{Type: modelv1.ConditionApplied, Reason: reason, Message: "m"}}
	}
	progressing := func(reason string) []metav1.Condition {
		return []metav1.Condition{{Type: modelv1.ConditionProgressing, Reason: reason, Message: "m"}}
	}
	for _, row := range []struct {
		name        string
		before, now []metav1.Condition
		want        []string
	}{
		{"a rollout is complete", progressing("Progressing"), progressing("RolloutComplete"), []string{"Normal RolloutComplete m"}},
		{"the first rollout is complete", nil, progressing("RolloutComplete"), []string{"Normal RolloutComplete m"}},
		{"a rollout stays complete", progressing("RolloutComplete"), progressing("RolloutComplete"), nil},
		{"a rollout begins", progressing("RolloutComplete"), progressing("Progressing"), nil},
		{"a rollout makes no progress", progressing("Progressing"), progressing("ProgressDeadlineExceeded"), []string{"Warning RolloutStalled m"}},
		{"somebody pauses the Deployment", progressing("Progressing"), progressing("DeploymentPaused"), []string{"Warning DeploymentPaused m"}},
		{"a name is taken", applied("Applied"), applied("NotOwned"), []string{"Warning NotOwned m"}},
		{"a name stays taken", applied("NotOwned"), applied("NotOwned"), nil},
		{"one failure after another", applied("NotOwned"), applied("Forbidden"), []string{"Warning Forbidden m"}},
		{"a quota", applied("Applied"), applied("QuotaExceeded"), []string{"Warning QuotaExceeded m"}},
		{"an invalid child", applied("Applied"), applied("Invalid"), []string{"Warning Invalid m"}},
		{"a conflict", applied("Applied"), applied("Conflict"), []string{"Warning Conflict m"}},
		{"what is likely to pass is not told", applied("Applied"), applied("Error"), nil},
		{"a pause is not told", applied("Applied"), applied("Paused"), nil},
		{"all is well again", applied("NotOwned"), applied("Applied"), nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := webBox(t)
			box.Status.Conditions = row.before
			f := newFixture(t, box)
			f.tellTransitions(box, &modelv1.ModelBoxStatus{Conditions: row.now})
			if diff := cmp.Diff(row.want, f.told()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// The API refuses an event whose note is longer.
func TestNotesAreCut(t *testing.T) {
	box := webBox(t)
	f := newFixture(t, box)
	f.eventf(box, corev1.EventTypeWarning, "Restored", "Restore", "%s had changed %s", "somebody", strings.Repeat("ü", 1000))
	note := strings.TrimPrefix(f.told()[0], "Warning Restored ")
	if len(note) > 1024 || !strings.HasSuffix(note, "ü…") {
		t.Errorf("the note has %d bytes and ends in %q", len(note), note[len(note)-8:])
	}
}
