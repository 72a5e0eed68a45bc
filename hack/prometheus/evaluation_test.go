// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"math"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/template"
)

// language parses PromQL.
var language = parser.NewParser(parser.Options{})

func newEngine() *promql.Engine {
	return promql.NewEngine(promql.EngineOpts{
		MaxSamples: 1_000_000, Timeout: time.Minute, EnableAtModifier: true, EnableNegativeOffset: true,
		NoStepSubqueryIntervalFn: func(int64) int64 { return time.Minute.Milliseconds() },
		Parser:                   language,
	})
}

// evaluation evaluates rules like a Prometheus, which writes the results as series: the series of recording rules, and the series
// ALERTS for alerts.
type evaluation struct {
	t      *testing.T
	engine *promql.Engine
	memory *memory
	groups []rulefmt.RuleGroup
	// active is since when each alert is, by its labels.
	active map[string]time.Time
	// written are the series that each rule wrote at the evaluation before.
	written map[string]map[string]labels.Labels
}

func newEvaluation(t *testing.T, groups []rulefmt.RuleGroup) *evaluation {
	engine := newEngine()
	t.Cleanup(func() { _ = engine.Close() })
	return &evaluation{
		t: t, engine: engine, memory: newMemory(), groups: groups,
		active: map[string]time.Time{}, written: map[string]map[string]labels.Labels{},
	}
}

// query returns the result of an expression at a time.
func (e *evaluation) query(expression string, at time.Time) promql.Vector {
	e.t.Helper()
	query, err := e.engine.NewInstantQuery(e.t.Context(), e.memory, nil, expression, at)
	if err != nil {
		e.t.Fatalf("%s: %v", expression, err)
	}
	defer query.Close()
	result := query.Exec(e.t.Context())
	if result.Err != nil {
		e.t.Fatalf("%s: %v", expression, result.Err)
	}
	vector, err := result.Vector()
	if err != nil {
		e.t.Fatalf("%s: %v", expression, err)
	}
	return append(promql.Vector{}, vector...)
}

// evaluate evaluates all rules once.
func (e *evaluation) evaluate(at time.Time) {
	e.t.Helper()
	for _, group := range e.groups {
		for i, rule := range group.Rules {
			name := group.Name + "/" + string(rune('0'+i)) + rule.Record + rule.Alert
			now := map[string]labels.Labels{}
			for _, result := range e.query(rule.Expr, at) {
				series, number := e.result(rule, result, at)
				now[series.String()] = series
				e.memory.add(series, at, number)
			}
			for key, series := range e.written[name] {
				if _, still := now[key]; !still {
					e.memory.add(series, at, math.Float64frombits(value.StaleNaN))
				}
			}
			e.written[name] = now
			e.forgetInactive(rule, now)
		}
	}
}

// result returns what a rule writes for one element of what it evaluates to.
func (e *evaluation) result(rule rulefmt.Rule, result promql.Sample, at time.Time) (labels.Labels, float64) {
	builder := labels.NewBuilder(result.Metric)
	for name, text := range rule.Labels {
		builder.Set(name, text)
	}
	if rule.Record != "" {
		return builder.Set(labels.MetricName, rule.Record).Labels(), result.F
	}
	builder.Del(labels.MetricName)
	e.expectAnnotations(rule, builder.Labels(), result.F)
	builder.Set(labels.MetricName, "ALERTS").Set(labels.AlertName, rule.Alert)
	identity := builder.Labels().String()
	if _, known := e.active[identity]; !known {
		e.active[identity] = at
	}
	state := "pending"
	if at.Sub(e.active[identity]) >= time.Duration(rule.For) {
		state = "firing"
	}
	return builder.Set("alertstate", state).Labels(), 1
}

// forgetInactive forgets since when the alerts of a rule are active that are not.
func (e *evaluation) forgetInactive(rule rulefmt.Rule, now map[string]labels.Labels) {
	if rule.Alert == "" {
		return
	}
	active := map[string]bool{}
	for _, series := range now {
		active[labels.NewBuilder(series).Del("alertstate").Labels().String()] = true
	}
	for identity := range e.active {
		series, err := language.ParseMetric(identity)
		if err != nil {
			e.t.Fatal(err)
		}
		if series.Get(labels.AlertName) == rule.Alert && !active[identity] {
			delete(e.active, identity)
		}
	}
}

// expectAnnotations fails if an annotation of an alert refers to a label that the alert does not have.
func (e *evaluation) expectAnnotations(rule rulefmt.Rule, alert labels.Labels, number float64) {
	e.t.Helper()
	for name, text := range rule.Annotations {
		expander := template.NewTemplateExpander(e.t.Context(),
			"{{$labels := .Labels}}{{$value := .Value}}"+text, rule.Alert+"/"+name,
			struct {
				Labels map[string]string
				Value  float64
			}{alert.Map(), number}, model.Now(), nil, nil, []string{"missingkey=error"})
		if _, err := expander.Expand(); err != nil {
			e.t.Errorf("%s of alert %s: %v", name, rule.Alert, err)
		}
	}
}
