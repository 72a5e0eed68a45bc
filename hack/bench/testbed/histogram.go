// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ground

import (
	dto "github.com/prometheus/client_model/go"
	"k8s.io/component-base/metrics/testutil"
)

// Histogram is a histogram metric at one time: how many observations there were up to each bound, and in all.
type Histogram struct {
	bounds []float64
	upTo   []uint64
	count  uint64
}

// Histogram adds up the series of a histogram that have all of the labels. It is empty where there are none.
func (m Metrics) Histogram(name string, labels map[string]string) Histogram {
	total := Histogram{}
	for _, series := range m[name].GetMetric() {
		if !hasLabels(series, labels) {
			continue
		}
		buckets := series.GetHistogram().GetBucket()
		if total.bounds == nil {
			total.upTo = make([]uint64, len(buckets))
			for _, bucket := range buckets {
				total.bounds = append(total.bounds, bucket.GetUpperBound())
			}
		}
		// All series of a metric have the same buckets.
		for i, bucket := range buckets {
			total.upTo[i] += bucket.GetCumulativeCount()
		}
		total.count += series.GetHistogram().GetSampleCount()
	}
	return total
}

// Count is how many observations there are.
func (h Histogram) Count() float64 { return float64(h.count) }

// Since returns what was observed since then.
func (h Histogram) Since(before Histogram) Histogram {
	since := Histogram{bounds: h.bounds, upTo: make([]uint64, len(h.upTo)), count: h.count - before.count}
	for i := range h.upTo {
		since.upTo[i] = h.upTo[i]
		if i < len(before.upTo) {
			since.upTo[i] -= before.upTo[i]
		}
	}
	return since
}

// Quantile returns the value that a share of the observations does not exceed, as Prometheus estimates it: as if they were
// spread evenly in each bucket. It is 0 where there are none.
func (h Histogram) Quantile(share float64) float64 {
	if h.count == 0 {
		return 0
	}
	histogram := testutil.Histogram{Histogram: &dto.Histogram{SampleCount: &h.count}}
	for i := range h.bounds {
		histogram.Bucket = append(histogram.Bucket, &dto.Bucket{UpperBound: &h.bounds[i], CumulativeCount: &h.upTo[i]})
	}
	return histogram.Quantile(share)
}
