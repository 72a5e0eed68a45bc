// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	dto "github.com/prometheus/client_model/go"
	"k8s.io/component-base/metrics/testutil"
)

// Histogram is a snapshot of a histogram metric: the number of observations up to each bound, and in total.
type Histogram struct {
	bounds []float64
	upTo   []uint64
	count  uint64
}

// Histogram returns the sum of the series of a histogram with the labels, an empty Histogram if there are none.
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

// Count returns the number of observations.
func (h Histogram) Count() float64 { return float64(h.count) }

// Since returns the observations since an earlier snapshot.
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

// Quantile estimates a quantile like Prometheus, with linear interpolation in each bucket. It returns 0 without observations.
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
