// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"bytes"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"go.yaml.in/yaml/v3"
)

const (
	root       = "../.."
	component  = root + "/artifacts/components/prometheus-rules"
	rulesFile  = component + "/rules.yaml"
	customFile = component + "/prometheusrule.yaml"
	alertsFile = "testdata/alerts.yaml"

	// documents is the location of the runbooks, in the repository and on the web.
	documents = "docs/operate/"
	baseURL   = "https://github.com/sharelinuxs/modelbox-apiserver/blob/main/" + documents
)

var update = flag.Bool("update", false, "write "+customFile)

func readRules(t *testing.T) []rulefmt.RuleGroup {
	t.Helper()
	groups, errs := rulefmt.ParseFile(rulesFile, false, model.UTF8Validation, language, slog.New(slog.DiscardHandler))
	for _, err := range errs {
		t.Error(err)
	}
	if t.Failed() {
		t.FailNow()
	}
	return groups.Groups
}

func alertsOf(groups []rulefmt.RuleGroup) []rulefmt.Rule {
	var alerts []rulefmt.Rule
	for _, group := range groups {
		for _, rule := range group.Rules {
			if rule.Alert != "" {
				alerts = append(alerts, rule)
			}
		}
	}
	return alerts
}

// TestPrometheusRuleHasTheRules checks that the PrometheusRule for the Prometheus Operator has the same rules.
func TestPrometheusRuleHasTheRules(t *testing.T) {
	rules, err := os.ReadFile(rulesFile)
	if err != nil {
		t.Fatal(err)
	}
	_, body, found := bytes.Cut(rules, []byte("\ngroups:\n"))
	if !found {
		t.Fatalf("%s has no groups", rulesFile)
	}
	var want strings.Builder
	want.WriteString(`# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Made from rules.yaml: hack/prometheus/README.md.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: modelbox-apiserver
  namespace: modelbox-system
spec:
  groups:
`)
	for line := range strings.Lines(string(body)) {
		want.WriteString("  " + line)
	}
	if *update {
		if err := os.WriteFile(customFile, []byte(want.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(customFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.String(), string(got)); diff != "" {
		t.Errorf("run: go test . -update; -want +got:\n%s", diff)
	}
}

// TestEveryAlertLeadsToItsRunbook checks that the runbook of every alert exists.
func TestEveryAlertLeadsToItsRunbook(t *testing.T) {
	runbooks := map[string]bool{}
	for _, alert := range alertsOf(readRules(t)) {
		if severity := alert.Labels["severity"]; severity != "critical" && severity != "warning" {
			t.Errorf("alert %s has severity %q", alert.Alert, severity)
		}
		for _, name := range []string{"summary", "description"} {
			if alert.Annotations[name] == "" {
				t.Errorf("alert %s has no %s", alert.Alert, name)
			}
		}
		url, anchor, _ := strings.Cut(alert.Annotations["runbook_url"], "#")
		name, found := strings.CutPrefix(url, baseURL)
		if !found || anchor != strings.ToLower(alert.Alert) {
			t.Errorf("runbook_url of alert %s is %s", alert.Alert, alert.Annotations["runbook_url"])
			continue
		}
		runbooks[name] = true
		text, err := os.ReadFile(filepath.Join(root, documents, name))
		if err != nil {
			t.Error(err)
		} else if !strings.Contains(string(text), "\n## "+alert.Alert+"\n") {
			t.Errorf("%s has no section %s", documents+name, alert.Alert)
		}
	}
	// A section about an alert that does not exist is misleading.
	for name := range runbooks {
		text, err := os.ReadFile(filepath.Join(root, documents, name))
		if err != nil {
			continue
		}
		for _, section := range regexp.MustCompile(`(?m)^## (ModelBox\w+)$`).FindAllStringSubmatch(string(text), -1) {
			known := false
			for _, alert := range alertsOf(readRules(t)) {
				known = known || alert.Alert == section[1]
			}
			if !known {
				t.Errorf("%s describes %s, which is no alert", documents+name, section[1])
			}
		}
	}
}

// testFile is a file of tests as "promtool test rules" reads them, of which these use a part.
type testFile struct {
	RuleFiles          []string       `yaml:"rule_files"`
	EvaluationInterval model.Duration `yaml:"evaluation_interval"`
	Tests              []testGroup    `yaml:"tests"`
}

type testGroup struct {
	Name        string         `yaml:"name"`
	Interval    model.Duration `yaml:"interval"`
	InputSeries []struct {
		Series string `yaml:"series"`
		Values string `yaml:"values"`
	} `yaml:"input_series"`
	Expressions []testExpression `yaml:"promql_expr_test"`
}

type testExpression struct {
	Expr     string         `yaml:"expr"`
	EvalTime model.Duration `yaml:"eval_time"`
	Want     []testSample   `yaml:"exp_samples"`
}

type testSample struct {
	Labels string  `yaml:"labels"`
	Value  float64 `yaml:"value"`
}

func readTests(t *testing.T) testFile {
	t.Helper()
	text, err := os.ReadFile(alertsFile)
	if err != nil {
		t.Fatal(err)
	}
	var file testFile
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&file); err != nil {
		t.Fatal(err)
	}
	if want := []string{"../" + rulesFile}; !cmp.Equal(want, file.RuleFiles) {
		t.Fatalf("%s is about %v, want %v", alertsFile, file.RuleFiles, want)
	}
	return file
}

func TestRules(t *testing.T) {
	file, groups := readTests(t), readRules(t)
	for _, group := range file.Tests {
		t.Run(group.Name, func(t *testing.T) {
			start, end := time.Unix(0, 0).UTC(), time.Unix(0, 0).UTC()
			e := newEvaluation(t, groups)
			for _, input := range group.InputSeries {
				series, values, err := language.ParseSeriesDesc(input.Series + " " + input.Values)
				if err != nil {
					t.Fatal(err)
				}
				for i, number := range values {
					if !number.Omitted {
						e.memory.add(series, start.Add(time.Duration(i)*time.Duration(group.Interval)), number.Value)
					}
				}
			}
			for _, test := range group.Expressions {
				if at := start.Add(time.Duration(test.EvalTime)); at.After(end) {
					end = at
				}
			}
			for at := start; !at.After(end); at = at.Add(time.Duration(file.EvaluationInterval)) {
				e.evaluate(at)
			}
			for _, test := range group.Expressions {
				want, got := map[string]float64{}, map[string]float64{}
				for _, sample := range test.Want {
					series, err := language.ParseMetric(sample.Labels)
					if err != nil {
						t.Fatal(err)
					}
					want[series.String()] = sample.Value
				}
				for _, result := range e.query(test.Expr, start.Add(time.Duration(test.EvalTime))) {
					got[result.Metric.String()] = result.F
				}
				if diff := cmp.Diff(want, got, cmpopts.EquateApprox(1e-9, 0)); diff != "" {
					t.Errorf("%s after %s, -want +got:\n%s", test.Expr, test.EvalTime, diff)
				}
			}
		})
	}
}

// TestEveryAlertIsTested checks that every alert has a test in which it fires and a test in which it does not.
func TestEveryAlertIsTested(t *testing.T) {
	fires, rests := map[string]bool{}, map[string]bool{}
	for _, group := range readTests(t).Tests {
		for _, test := range group.Expressions {
			metric, err := language.ParseMetric(strings.NewReplacer("ALERTS", "").Replace(test.Expr))
			if err != nil {
				continue // not of an alert
			}
			if name := metric.Get(labels.AlertName); len(test.Want) > 0 {
				fires[name] = true
			} else {
				rests[name] = true
			}
		}
	}
	for _, alert := range alertsOf(readRules(t)) {
		if !fires[alert.Alert] || !rests[alert.Alert] {
			t.Errorf("alert %s: a test in which it fires: %v, in which it does not: %v", alert.Alert, fires[alert.Alert], rests[alert.Alert])
		}
	}
}
