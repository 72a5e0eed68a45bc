// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"errors"
	"testing"
	"time"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/testutil"
)

func TestReconcilesAreTimedByResult(t *testing.T) {
	for _, row := range []struct {
		result string
		again  time.Duration
		err    error
	}{
		{"success", 0, nil},
		{"requeue", time.Second, nil},
		{"error", 0, errors.New("the server is unavailable")},
	} {
		t.Run(row.result, func(t *testing.T) {
			measured, registry := NewMetrics("modelbox", "box", "boxes"), metrics.NewKubeRegistry()
			measured.Register(registry.MustRegister, registry.CustomMustRegister)
			measured.reconciled(time.Now().Add(-time.Minute), row.again, row.err)
			histogram, err := testutil.GetHistogramVecFromGatherer(registry, "modelbox_controller_reconcile_duration_seconds", map[string]string{"result": row.result})
			if err != nil {
				t.Fatal(err)
			}
			if got := histogram.GetAggregatedSampleCount(); got != 1 {
				t.Errorf("%d are counted", got)
			}
			if got := histogram.GetAggregatedSampleSum(); got < 60 {
				t.Errorf("a minute is counted as %f seconds", got)
			}
		})
	}
}
