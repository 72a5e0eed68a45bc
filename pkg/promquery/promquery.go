// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package promquery confines the queries of users for Prometheus to the metrics of one namespace. The server validates the queries
// with it, and the controller sends only what it returns.
package promquery

import (
	"errors"
	"fmt"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// NamespaceLabel is the label of metrics that a query is confined by.
const NamespaceLabel = "namespace"

// maxSelectors is how many selectors a query may have. Each gets a matcher, which may be longer than the selector itself.
const maxSelectors = 50

// exampleHash replaces the hashes in a query that is validated.
const exampleHash = "5d8f7c9b6"

// Hashes replace the placeholders of a query.
type Hashes struct {
	Stable, Canary string
}

// promQL knows neither experimental functions nor experimental syntax. The function info reads metrics that no selector of the query
// names.
var promQL = parser.NewParser(parser.Options{})

// UsesHashes returns whether the query has a placeholder for the hash of the stable pods, and one for the hash of the new pods.
func UsesHashes(query string) (stable, canary bool) {
	return strings.Contains(query, modelv1.CheckQueryStable), strings.Contains(query, modelv1.CheckQueryCanary)
}

// Validate returns an error if the query cannot be confined, or if its result cannot be a single number.
func Validate(query string) error {
	_, err := confine(query, "default", Hashes{Stable: exampleHash, Canary: exampleHash})
	return err
}

// Confine returns the query with the hashes in place of its placeholders. It reads only metrics of the namespace.
func Confine(query, namespace string, hashes Hashes) (string, error) {
	expr, err := confine(query, namespace, hashes)
	if err != nil {
		return "", err
	}
	return expr.String(), nil
}

func confine(query, namespace string, hashes Hashes) (parser.Expr, error) {
	if namespace == "" {
		return nil, errors.New("the namespace is not known") // A matcher of no namespace selects metrics without the label.
	}
	query = strings.NewReplacer(modelv1.CheckQueryStable, hashes.Stable, modelv1.CheckQueryCanary, hashes.Canary).Replace(query)
	expr, err := promQL.ParseExpr(query)
	if err != nil {
		return nil, fmt.Errorf("is not valid PromQL: %w", err)
	}
	if kind := expr.Type(); kind != parser.ValueTypeScalar && kind != parser.ValueTypeVector {
		return nil, fmt.Errorf("must have a scalar or an instant vector as its result, and has a %s", parser.DocumentedType(kind))
	}
	matcher, err := labels.NewMatcher(labels.MatchEqual, NamespaceLabel, namespace)
	if err != nil {
		return nil, err
	}
	confiner := &confiner{matcher: matcher}
	if err := parser.Walk(confiner, expr, nil); err != nil {
		return nil, err
	}
	return expr, nil
}

// confiner is a parser.Visitor that adds a matcher to each selector.
type confiner struct {
	matcher   *labels.Matcher
	selectors int
}

// Visit implements parser.Visitor.
func (c *confiner) Visit(node parser.Node, _ []parser.Node) (parser.Visitor, error) {
	selector, isSelector := node.(*parser.VectorSelector)
	if !isSelector {
		return c, nil
	}
	if c.selectors++; c.selectors > maxSelectors {
		return nil, fmt.Errorf("must not have more than %d selectors", maxSelectors)
	}
	for _, matcher := range selector.LabelMatchers {
		if matcher.Name == NamespaceLabel {
			return nil, fmt.Errorf("must not select by the label %q: the server selects the namespace of the box", NamespaceLabel)
		}
	}
	selector.LabelMatchers = append(selector.LabelMatchers, c.matcher)
	return c, nil
}
