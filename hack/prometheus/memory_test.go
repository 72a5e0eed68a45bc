// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
)

// memory is a storage of the few series of a test.
type memory struct {
	series map[string]*storedSeries
}

type storedSeries struct {
	labels  labels.Labels
	samples []chunks.Sample
}

// sample is a number at a time.
type sample struct {
	at    int64
	value float64
}

func (s sample) T() int64                    { return s.at }
func (sample) ST() int64                     { return 0 }
func (s sample) F() float64                  { return s.value }
func (sample) H() *histogram.Histogram       { return nil }
func (sample) FH() *histogram.FloatHistogram { return nil }
func (sample) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (s sample) Copy() chunks.Sample         { return s }

func newMemory() *memory { return &memory{series: map[string]*storedSeries{}} }

// add appends a number to a series. The time advances with each number.
func (m *memory) add(series labels.Labels, at time.Time, value float64) {
	key := series.String()
	if m.series[key] == nil {
		m.series[key] = &storedSeries{labels: series}
	}
	m.series[key].samples = append(m.series[key].samples, sample{at.UnixMilli(), value})
}

// Querier implements storage.Queryable.
func (m *memory) Querier(int64, int64) (storage.Querier, error) { return querier{m}, nil }

type querier struct{ memory *memory }

// Select implements storage.Querier.
func (q querier) Select(_ context.Context, _ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
	set := &seriesSet{next: -1}
	for _, series := range q.memory.series {
		if matches(series.labels, matchers) {
			set.series = append(set.series, storage.NewListSeries(series.labels, series.samples))
		}
	}
	slices.SortFunc(set.series, func(a, b storage.Series) int { return labels.Compare(a.Labels(), b.Labels()) })
	return set
}

func matches(series labels.Labels, matchers []*labels.Matcher) bool {
	for _, matcher := range matchers {
		if !matcher.Matches(series.Get(matcher.Name)) {
			return false
		}
	}
	return true
}

var errNoLabels = errors.New("a query asks for series, never for labels")

// LabelValues implements storage.Querier.
func (querier) LabelValues(context.Context, string, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, errNoLabels
}

// LabelNames implements storage.Querier.
func (querier) LabelNames(context.Context, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, errNoLabels
}

// Close implements storage.Querier.
func (querier) Close() error { return nil }

type seriesSet struct {
	series []storage.Series
	next   int
}

func (s *seriesSet) Next() bool                      { s.next++; return s.next < len(s.series) }
func (s *seriesSet) At() storage.Series              { return s.series[s.next] }
func (*seriesSet) Err() error                        { return nil }
func (*seriesSet) Warnings() annotations.Annotations { return nil }
