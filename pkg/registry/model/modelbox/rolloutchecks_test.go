// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// withChecks returns a box with checks of these names and queries.
func withChecks(namesAndQueries ...string) *model.ModelBox {
	box := &model.ModelBox{}
	box.Spec.Rollout = &model.ModelBoxRollout{}
	for i := 0; i < len(namesAndQueries); i += 2 {
		box.Spec.Rollout.Checks = append(box.Spec.Rollout.Checks, model.ModelBoxRolloutCheck{
			Name: namesAndQueries[i], Prometheus: model.ModelBoxPrometheusQuery{Query: namesAndQueries[i+1]},
		})
	}
	return box
}

func TestValidateChecks(t *testing.T) {
	const foreign = `up{namespace="other"}`
	for _, row := range []struct {
		name         string
		noPrometheus bool
		box, old     *model.ModelBox
		want         []string
	}{
		{"no rollout", true, &model.ModelBox{}, nil, nil},
		{"no checks", true, withChecks(), nil, nil},
		{"checks", false, withChecks("a", "up", "b", `up{hash="{{canary}}"}`), nil, nil},
		{"checks of a server without Prometheus", true, withChecks("a", "up", "b", "up"), nil, []string{"Forbidden: spec.rollout.checks"}},
		{"new checks of a server without Prometheus", true, withChecks("a", "up"), withChecks(), []string{"Forbidden: spec.rollout.checks"}},
		{"one more check of a server without Prometheus", true, withChecks("a", "up", "b", "up"), withChecks("a", "up"), []string{"Forbidden: spec.rollout.checks"}},
		{"checks that the server once had a Prometheus for", true, withChecks("a", "up"), withChecks("b", "up", "a", "up"), nil},
		{"a query for another namespace", false, withChecks("a", "up", "b", foreign), nil, []string{"Invalid value: spec.rollout.checks[1].prometheus.query"}},
		{"a query that is none", false, withChecks("a", "up{"), nil, []string{"Invalid value: spec.rollout.checks[0].prometheus.query"}},
		{"a query that the box had", false, withChecks("b", "up", "a", foreign), withChecks("a", foreign), nil},
		{"a query that another check had", false, withChecks("b", foreign), withChecks("a", foreign), []string{"Invalid value: spec.rollout.checks[0].prometheus.query"}},
		{"a changed query", false, withChecks("a", foreign), withChecks("a", "up"), []string{"Invalid value: spec.rollout.checks[0].prometheus.query"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			var got []string
			for _, err := range (SpecValidator{NoPrometheus: row.noPrometheus}).validateChecks(row.box, row.old, field.NewPath("spec")) {
				got = append(got, err.Type.String()+": "+err.Field)
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
