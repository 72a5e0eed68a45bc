// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

func parse(t *testing.T, text string) Metrics {
	t.Helper()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return families
}

func TestHistogramIsOfWhatWasObservedSince(t *testing.T) {
	const before = `# TYPE waited_seconds histogram
waited_seconds_bucket{name="modelbox",le="0.1"} 10
waited_seconds_bucket{name="modelbox",le="1"} 10
waited_seconds_bucket{name="modelbox",le="+Inf"} 10
waited_seconds_sum{name="modelbox"} 1
waited_seconds_count{name="modelbox"} 10
`
	const after = `# TYPE waited_seconds histogram
waited_seconds_bucket{name="modelbox",le="0.1"} 60
waited_seconds_bucket{name="modelbox",le="1"} 110
waited_seconds_bucket{name="modelbox",le="+Inf"} 110
waited_seconds_sum{name="modelbox"} 1
waited_seconds_count{name="modelbox"} 110
waited_seconds_bucket{name="network",le="0.1"} 0
waited_seconds_bucket{name="network",le="1"} 0
waited_seconds_bucket{name="network",le="+Inf"} 700
waited_seconds_sum{name="network"} 1
waited_seconds_count{name="network"} 700
`
	labels := map[string]string{"name": "modelbox"}
	since := parse(t, after).Histogram("waited_seconds", labels).Since(parse(t, before).Histogram("waited_seconds", labels))
	if got := since.Count(); got != 100 {
		t.Errorf("%v are counted, want 100", got)
	}
	for _, row := range []struct{ share, want float64 }{{0.25, 0.05}, {0.5, 0.1}, {1, 1}} {
		if got := since.Quantile(row.share); got < row.want*0.999 || got > row.want*1.001 {
			t.Errorf("quantile %v is %v, want %v", row.share, got, row.want)
		}
	}
}

func TestQuantileOfNothingIsZero(t *testing.T) {
	if got := parse(t, "").Histogram("waited_seconds", nil).Quantile(0.99); got != 0 {
		t.Errorf("got %v", got)
	}
}
