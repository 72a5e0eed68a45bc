// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"errors"

	"k8s.io/component-base/metrics"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/rollouts"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/prometheus"
)

// The results of queries in their metric.
const (
	querySuccess = "success"
	queryRefused = "refused"
	queryError   = "error"
)

// countingPrometheus counts the queries that it passes on.
type countingPrometheus struct {
	rollouts.Prometheus
	queries *metrics.CounterVec
}

// Query implements rollouts.Prometheus.
func (p *countingPrometheus) Query(ctx context.Context, query string) ([]float64, error) {
	values, err := p.Prometheus.Query(ctx, query)
	p.queries.WithLabelValues(queryResult(err)).Inc()
	return values, err
}

// queryResult returns the result of a query with the error, which may be nil.
func queryResult(err error) string {
	var refusal *prometheus.Error
	switch {
	case err == nil:
		return querySuccess
	case errors.As(err, &refusal) && refusal.IsQueryRefused:
		return queryRefused
	default:
		return queryError
	}
}
