// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/component-base/metrics/legacyregistry"
)

// metricValues returns the metrics of this package, such as modelbox_store_starts_total New. All tests share them: a test with
// metricValues is not parallel.
func metricValues(t *testing.T) map[string]float64 {
	t.Helper()
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		if !strings.HasPrefix(family.GetName(), metricsSubsystem) {
			continue
		}
		for _, metric := range family.GetMetric() {
			name := family.GetName()
			for _, label := range metric.GetLabel() {
				name += " " + label.GetValue()
			}
			values[name] = metric.GetCounter().GetValue() + metric.GetGauge().GetValue()
		}
	}
	return values
}

// expectCounted expects that the metrics increase by these values while do runs.
func expectCounted(t *testing.T, do func(), want map[string]float64) {
	t.Helper()
	before := metricValues(t)
	do()
	got := map[string]float64{}
	for name, value := range metricValues(t) {
		if increase := value - before[name]; increase != 0 {
			got[strings.TrimPrefix(name, metricsSubsystem+"_")] = increase
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics: -want +got:\n%s", diff)
	}
}

func TestEachActionHasASeriesFromTheStart(t *testing.T) {
	values := metricValues(t)
	for _, kind := range []string{"boxes", "stacks", "networks"} {
		for _, action := range []string{"created", "updated", "replaced", "removed"} {
			name := "modelbox_store_recovered_" + kind + "_total " + action
			if _, exists := values[name]; !exists {
				t.Errorf("there is no %s", name)
			}
		}
	}
}
