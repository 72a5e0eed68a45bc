// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

func TestRolloutChecks(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*model.ModelBoxRollout, *model.ModelBoxRolloutCheck)
		want   []string
	}{
		{"a check with max", func(*model.ModelBoxRollout, *model.ModelBoxRolloutCheck) {}, nil},
		{"a check with min", func(_ *model.ModelBoxRollout, c *model.ModelBoxRolloutCheck) { c.Max, c.Min = nil, c.Max }, nil},
		{"equal limits", func(_ *model.ModelBoxRollout, c *model.ModelBoxRolloutCheck) {
			c.Min = ptr.To(resource.MustParse("0.05"))
		}, nil},
		{"neither max nor min", func(_ *model.ModelBoxRollout, c *model.ModelBoxRolloutCheck) { c.Max = nil }, []string{"Required value: checks[0]"}},
		{"min above max", func(_ *model.ModelBoxRollout, c *model.ModelBoxRolloutCheck) { c.Min = ptr.To(resource.MustParse("1")) },
			[]string{"Invalid value: checks[0].min"}},
		{"no type", func(r *model.ModelBoxRollout, _ *model.ModelBoxRolloutCheck) { r.Type = nil }, []string{"Forbidden: checks"}},
		{"no name", func(_ *model.ModelBoxRollout, c *model.ModelBoxRolloutCheck) { c.Name = "" }, []string{"Required value: checks[0].name"}},
		{"a name that is no label", func(_ *model.ModelBoxRollout, c *model.ModelBoxRolloutCheck) { c.Name = "Error rate" }, []string{"Invalid value: checks[0].name"}},
		{"the same name twice", func(r *model.ModelBoxRollout, c *model.ModelBoxRolloutCheck) { r.Checks = append(r.Checks, *c) },
			[]string{"Duplicate value: checks[1].name"}},
		{"no query", func(_ *model.ModelBoxRollout, c *model.ModelBoxRolloutCheck) { c.Prometheus.Query = "" }, []string{"Required value: checks[0].prometheus.query"}},
		{"the longest query", func(_ *model.ModelBoxRollout, c *model.ModelBoxRolloutCheck) {
			c.Prometheus.Query = strings.Repeat("é", 4096)
		}, nil},
		{"a longer query", func(_ *model.ModelBoxRollout, c *model.ModelBoxRolloutCheck) {
			c.Prometheus.Query = strings.Repeat("é", 4097)
		},
			[]string{"Too long: checks[0].prometheus.query"}},
		{"the shortest interval", func(_ *model.ModelBoxRollout, c *model.ModelBoxRolloutCheck) { c.Interval = "5s" }, nil},
		{"the longest interval", func(_ *model.ModelBoxRollout, c *model.ModelBoxRolloutCheck) { c.Interval = "60m" }, nil},
		{"a shorter interval", func(_ *model.ModelBoxRollout, c *model.ModelBoxRolloutCheck) { c.Interval = "4999ms" }, []string{"Invalid value: checks[0].interval"}},
		{"a longer interval", func(_ *model.ModelBoxRollout, c *model.ModelBoxRolloutCheck) { c.Interval = "1h1s" }, []string{"Invalid value: checks[0].interval"}},
		{"an interval without a unit", func(_ *model.ModelBoxRollout, c *model.ModelBoxRolloutCheck) { c.Interval = "30" }, []string{"Invalid value: checks[0].interval"}},
		{"a delay", func(_ *model.ModelBoxRollout, c *model.ModelBoxRolloutCheck) { c.InitialDelay = "1m" }, nil},
		{"no delay", func(_ *model.ModelBoxRollout, c *model.ModelBoxRolloutCheck) { c.InitialDelay = "0s" }, nil},
		{"a negative delay", func(_ *model.ModelBoxRollout, c *model.ModelBoxRolloutCheck) { c.InitialDelay = "-1s" }, []string{"Invalid value: checks[0].initialDelay"}},
		{"a count of 0", func(_ *model.ModelBoxRollout, c *model.ModelBoxRolloutCheck) { c.Count = ptr.To[int32](0) }, []string{"Invalid value: checks[0].count"}},
		{"a negative limit of failures", func(_ *model.ModelBoxRollout, c *model.ModelBoxRolloutCheck) { c.FailureLimit = ptr.To[int32](-1) },
			[]string{"Invalid value: checks[0].failureLimit"}},
		{"neither a count nor a limit of failures", func(_ *model.ModelBoxRollout, c *model.ModelBoxRolloutCheck) { c.Count, c.FailureLimit = nil, nil },
			[]string{"Required value: checks[0].count", "Required value: checks[0].failureLimit"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			rollout := &model.ModelBoxRollout{Type: ptr.To(model.RolloutCanary), Checks: []model.ModelBoxRolloutCheck{{
				Name: "error-rate", Prometheus: model.ModelBoxPrometheusQuery{Query: "up"}, Max: ptr.To(resource.MustParse("50m")),
				Interval: "30s", Count: ptr.To[int32](1), FailureLimit: ptr.To[int32](0),
			}}}
			row.change(rollout, &rollout.Checks[0])
			var got []string
			for _, err := range validateRolloutChecks(rollout, field.NewPath("checks")) {
				got = append(got, err.Type.String()+": "+err.Field)
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
