// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestIsSameAs(t *testing.T) {
	live := &corev1.Service{}
	step := Step{Operation: Replace, Live: live}
	for _, row := range []struct {
		name  string
		other Step
		want  bool
	}{
		{"the same", Step{Operation: Replace, Live: live}, true},
		{"the same of another object", Step{Operation: Replace, Live: &corev1.Service{}}, true},
		{"another operation", Step{Operation: Update, Live: live}, false},
		{"a child that is gone", Step{Operation: Replace}, false},
		{"a child of a predecessor", Step{Operation: Replace, Live: live, IsOwnedByPredecessor: true}, false},
	} {
		if got := step.IsSameAs(row.other); got != row.want {
			t.Errorf("%s: %t", row.name, got)
		}
	}
}
