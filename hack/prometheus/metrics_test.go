// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"encoding/json"
	"os"
	"regexp"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

const dashboardFile = root + "/artifacts/dashboard/modelbox-apiserver.json"

var (
	documentedMetric = regexp.MustCompile("`([a-z_]+)`")
	partOfMetric     = regexp.MustCompile(`_(bucket|count|sum)$`)
)

// readMetrics returns the metrics of docs/metrics.md, of which a test in a control plane says that the server serves them.
func readMetrics(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(root + "/docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, name := range documentedMetric.FindAllStringSubmatch(string(text), -1) {
		known[name[1]] = true
	}
	return known
}

// expectKnown fails if an expression is invalid or reads an unknown metric.
func expectKnown(t *testing.T, what, expression string, known map[string]bool) {
	t.Helper()
	parsed, err := language.ParseExpr(expression)
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	for _, matchers := range parser.ExtractSelectors(parsed) {
		name := ""
		for _, matcher := range matchers {
			if matcher.Name == labels.MetricName {
				name = matcher.Value
			}
		}
		if !known[name] && !known[partOfMetric.ReplaceAllString(name, "")] {
			t.Errorf("%s reads %s, which is not in docs/metrics.md", what, name)
		}
	}
}

func TestRulesReadMetricsThatAreServed(t *testing.T) {
	known, groups := readMetrics(t), readRules(t)
	for _, group := range groups {
		for _, rule := range group.Rules {
			known[rule.Record] = true
		}
	}
	for _, group := range groups {
		for _, rule := range group.Rules {
			expectKnown(t, rule.Record+rule.Alert, rule.Expr, known)
		}
	}
}

func TestDashboardReadsMetricsThatAreServed(t *testing.T) {
	text, err := os.ReadFile(dashboardFile)
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	if len(dashboard.Panels) == 0 {
		t.Fatal("the dashboard has no panels")
	}
	known := readMetrics(t)
	for _, panel := range dashboard.Panels {
		if len(panel.Targets) == 0 {
			t.Errorf("panel %q shows nothing", panel.Title)
		}
		for _, target := range panel.Targets {
			expectKnown(t, "panel "+panel.Title, target.Expr, known)
		}
	}
}
