// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import "testing"

func TestSumIsOfSeriesWithAllLabels(t *testing.T) {
	metrics := parse(t, `# TYPE requests_total counter
requests_total{verb="GET",resource="services",subresource=""} 3
requests_total{verb="GET",resource="services",subresource="status"} 4
requests_total{verb="POST",resource="services",subresource=""} 5
# TYPE resident_bytes gauge
resident_bytes 7
`)
	for _, row := range []struct {
		name   string
		labels map[string]string
		want   float64
	}{
		{"requests_total", nil, 12},
		{"requests_total", map[string]string{"verb": "GET"}, 7},
		{"requests_total", map[string]string{"verb": "GET", "subresource": ""}, 3},
		{"requests_total", map[string]string{"verb": "GET", "code": "200"}, 0},
		{"resident_bytes", nil, 7},
		{"other", nil, 0},
	} {
		if got := metrics.Sum(row.name, row.labels); got != row.want {
			t.Errorf("%s%v: got %v, want %v", row.name, row.labels, got, row.want)
		}
	}
}
