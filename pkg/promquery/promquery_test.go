// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package promquery

import (
	"strings"
	"testing"
)

func TestConfine(t *testing.T) {
	for _, row := range []struct {
		name, query, want string
	}{
		{"a metric", `up`, `up{namespace="shop"}`},
		{"no metric", `1 - 0.5`, `1 - 0.5`},
		{"matchers", `up{job="web",pod=~".+"}`, `up{job="web",namespace="shop",pod=~".+"}`},
		{"a name by a matcher", `{__name__=~".+"}`, `{__name__=~".+",namespace="shop"}`},
		{"a name in quotes", `{"up"}`, `{__name__="up",namespace="shop"}`},
		{"labels that are like the label", `up{kubernetes_namespace=~".*",Namespace="other"}`,
			`up{Namespace="other",kubernetes_namespace=~".*",namespace="shop"}`},
		{"the label in a string", `up{pod="namespace=\"other\"}"}`, `up{namespace="shop",pod="namespace=\"other\"}"}`},
		{"the label in a comment", "up # {namespace=\"shop\"}", `up{namespace="shop"}`},
		{"a range", `rate(errors_total[5m])`, `rate(errors_total{namespace="shop"}[5m])`},
		{"both sides", `errors / on (pod) group_left () requests`, `errors{namespace="shop"} / on (pod) group_left () requests{namespace="shop"}`},
		{"or", `up or secret or vector(0)`, `up{namespace="shop"} or secret{namespace="shop"} or vector(0)`},
		{"unless", `up unless secret`, `up{namespace="shop"} unless secret{namespace="shop"}`},
		{"a subquery", `max_over_time(rate(secret[1m])[1h:5m])`, `max_over_time(rate(secret{namespace="shop"}[1m])[1h:5m])`},
		{"an offset", `secret offset 1w`, `secret{namespace="shop"} offset 1w`},
		{"a time", `secret @ end()`, `secret{namespace="shop"} @ end()`},
		{"the parameter of an aggregation", `topk(scalar(secret), up)`, `topk(scalar(secret{namespace="shop"}), up{namespace="shop"})`},
		{"a quantile", `histogram_quantile(scalar(secret), sum by (le) (rate(b_bucket[5m])))`,
			`histogram_quantile(scalar(secret{namespace="shop"}), sum by (le) (rate(b_bucket{namespace="shop"}[5m])))`},
		{"absent", `absent(secret{pod="a"})`, `absent(secret{namespace="shop",pod="a"})`},
		{"absent over time", `absent_over_time(secret[5m])`, `absent_over_time(secret{namespace="shop"}[5m])`},
		{"label_replace", `label_replace(secret, "namespace", "shop", "pod", ".*")`,
			`label_replace(secret{namespace="shop"}, "namespace", "shop", "pod", ".*")`},
		{"label_join", `label_join(secret, "namespace", "", "pod")`, `label_join(secret{namespace="shop"}, "namespace", "", "pod")`},
		{"parentheses and signs", `-(-(secret))`, `-(-(secret{namespace="shop"}))`},
		{"a comparison", `secret > bool on () other`, `secret{namespace="shop"} > bool on () other{namespace="shop"}`},
		{"placeholders", `sum(e{pod=~"web-{{canary}}-.*"}) / sum(e{hash="{{stable}}"})`,
			`sum(e{namespace="shop",pod=~"web-bbb-.*"}) / sum(e{hash="aaa",namespace="shop"})`},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := Confine(row.query, "shop", Hashes{Stable: "aaa", Canary: "bbb"})
			if err != nil {
				t.Fatal(err)
			}
			if got != row.want {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
			if err := Validate(row.query); err != nil {
				t.Errorf("the server refuses it: %v", err)
			}
		})
	}
}

func TestQueriesThatCannotBeConfined(t *testing.T) {
	for _, row := range []struct {
		name, query, want string
	}{
		{"another namespace", `up{namespace="other"}`, `must not select by the label "namespace"`},
		{"all namespaces", `up{namespace=~".*"}`, `must not select by the label "namespace"`},
		{"all namespaces and all metrics", `{namespace=~".*",__name__=~".+"}`, `must not select by the label "namespace"`},
		{"every other namespace", `up{namespace!="shop"}`, `must not select by the label "namespace"`},
		{"no other namespace", `up{namespace!~"shop"}`, `must not select by the label "namespace"`},
		{"metrics without a namespace", `up{namespace=""}`, `must not select by the label "namespace"`},
		{"the label in quotes", `{"up","namespace"="other"}`, `must not select by the label "namespace"`},
		{"the label in quotes with escapes", `{"up","name\x73pace"="other"}`, `must not select by the label "namespace"`},
		{"one side of or", `up or secret{namespace="other"}`, `must not select by the label "namespace"`},
		{"or between matchers", `up{namespace="shop" or namespace="other"}`, `is not valid PromQL`},
		{"a range", `rate(secret{namespace="other"}[5m])`, `must not select by the label "namespace"`},
		{"a subquery", `max_over_time(secret{namespace="other"}[1h:5m])`, `must not select by the label "namespace"`},
		{"an offset", `secret{namespace="other"} offset 5m`, `must not select by the label "namespace"`},
		{"absent", `absent(secret{namespace="other"})`, `must not select by the label "namespace"`},
		{"the parameter of an aggregation", `topk(scalar(secret{namespace="other"}), up)`, `must not select by the label "namespace"`},
		{"an experimental function", `info(up)`, `is not valid PromQL`},
		{"an experimental function with a selector", `info(up, {__name__=~".+"})`, `is not valid PromQL`},
		{"two queries", `up; secret`, `is not valid PromQL`},
		{"an early end", `up}`, `is not valid PromQL`},
		{"a placeholder that is none", `up{pod="a",{{other}}}`, `is not valid PromQL`},
		{"nothing", ``, `is not valid PromQL`},
		{"a range as the result", `up[5m]`, `must have a scalar or an instant vector as its result, and has a range vector`},
		{"a string as the result", `"up"`, `must have a scalar or an instant vector as its result, and has a string`},
		{"many selectors", strings.Repeat("up+", maxSelectors) + "up", `must not have more than 50 selectors`},
	} {
		t.Run(row.name, func(t *testing.T) {
			if err := Validate(row.query); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("the server returns %v, want %q", err, row.want)
			}
			if got, err := Confine(row.query, "shop", Hashes{"aaa", "bbb"}); err == nil {
				t.Errorf("the controller sends %s", got)
			}
		})
	}
}

// A hash is a label that users can write, on a ReplicaSet of their namespace.
func TestHashesCannotOpenAnotherNamespace(t *testing.T) {
	query := `up{hash="{{canary}}"}`
	for _, hash := range []string{`"} or secret{namespace="other`, `",namespace=~".*`} {
		if got, err := Confine(query, "shop", Hashes{Canary: hash}); err == nil {
			t.Errorf("%s became %s", hash, got)
		}
	}
	got, err := Confine(query, "shop", Hashes{Canary: `"} or secret{pod="a`})
	if want := `up{hash="",namespace="shop"} or secret{namespace="shop",pod="a"}`; err != nil || got != want {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
}

func TestConfineNeedsANamespace(t *testing.T) {
	if got, err := Confine("up", "", Hashes{}); err == nil {
		t.Errorf("got %s", got)
	}
}

func TestUsesHashes(t *testing.T) {
	for query, want := range map[string][2]bool{
		"up": {}, `up{a="{{stable}}"}`: {true, false}, `up{a="{{canary}}"}`: {false, true}, `up{a="{{ canary }}"}`: {}, `up{a="{{canary}}",b="{{stable}}"}`: {true, true},
	} {
		if stable, canary := UsesHashes(query); stable != want[0] || canary != want[1] {
			t.Errorf("%s: got %t, %t", query, stable, canary)
		}
	}
}
