// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cliutil

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestSummaryOf(t *testing.T) {
	ready := func(status metav1.ConditionStatus, generation int64) metav1.Condition {
		return metav1.Condition{Type: modelv1.ConditionReady, Status: status, ObservedGeneration: generation, Reason: "Why", Message: "for that"}
	}
	stalled := metav1.Condition{Type: modelv1.ConditionStalled, Status: metav1.ConditionTrue, ObservedGeneration: 2}
	for _, test := range []struct {
		name       string
		conditions []metav1.Condition
		deleted    bool
		want       Summary
	}{
		{name: "not seen", want: Summary{Reason: "Pending", Message: "the controller has not seen it yet"}},
		{
			name: "ready as it was before", conditions: []metav1.Condition{ready(metav1.ConditionTrue, 1)},
			want: Summary{Reason: "Pending", Message: "the controller has not seen the last change yet"},
		},
		{
			name: "ready", conditions: []metav1.Condition{ready(metav1.ConditionTrue, 2)},
			want: Summary{Reason: "Why", Message: "for that", IsReady: true},
		},
		{
			name: "stalled", conditions: []metav1.Condition{ready(metav1.ConditionFalse, 2), stalled},
			want: Summary{Reason: "Why", Message: "for that", IsStalled: true},
		},
		{
			name: "ready and being deleted", conditions: []metav1.Condition{ready(metav1.ConditionTrue, 2)}, deleted: true,
			want: Summary{Reason: "Terminating", Message: "it is being deleted"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			object := &metav1.ObjectMeta{Generation: 2}
			if test.deleted {
				object.DeletionTimestamp = &metav1.Time{Time: time.Unix(0, 0)}
			}
			if diff := cmp.Diff(test.want, SummaryOf(object, test.conditions)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
