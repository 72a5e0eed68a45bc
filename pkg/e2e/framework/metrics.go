// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/component-base/metrics/testutil"
)

// Scrape returns the current metrics of a server.
func Scrape(t *testing.T, server rest.Interface) testutil.Metrics {
	t.Helper()
	text, err := server.Get().AbsPath("/metrics").DoRaw(t.Context())
	if err != nil {
		t.Fatalf("reading the server's metrics: %v", err)
	}
	return parseMetrics(t, string(text))
}

func parseMetrics(t *testing.T, text string) testutil.Metrics {
	t.Helper()
	metrics := testutil.NewMetrics()
	if err := testutil.ParseMetrics(text, &metrics); err != nil {
		t.Fatalf("reading metrics: %v", err)
	}
	return metrics
}

// Sum returns the sum of the series of a metric with the labels.
func Sum(metrics testutil.Metrics, name string, labels map[string]string) float64 {
	total := 0.0
series:
	for _, sample := range metrics[name] {
		have := map[string]string{}
		for label, value := range sample.Metric {
			have[string(label)] = string(value)
		}
		for label, value := range labels {
			if have[label] != value {
				continue series
			}
		}
		total += float64(sample.Value)
	}
	return total
}
