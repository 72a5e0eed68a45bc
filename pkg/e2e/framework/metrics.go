// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"fmt"
	"testing"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/metrics/testutil"
)

// DirectClient is the administrator's connection to the server itself: /metrics is not part of its API group, and the
// kube-apiserver answers for its own.
func (p *ControlPlane) DirectClient(t *testing.T) rest.Interface {
	t.Helper()
	service := p.ReadAPIService(t)
	config := rest.CopyConfig(p.Config)
	config.Host = fmt.Sprintf("https://localhost:%d", service.Spec.Service.Port)
	config.CAFile, config.CAData = "", service.Spec.CABundle
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client.Discovery().RESTClient()
}

// Scrape returns the present metrics of a server.
func Scrape(t *testing.T, server rest.Interface) testutil.Metrics {
	t.Helper()
	text, err := server.Get().AbsPath("/metrics").DoRaw(t.Context())
	if err != nil {
		t.Fatalf("reading the server's metrics: %v", err)
	}
	metrics := testutil.NewMetrics()
	if err := testutil.ParseMetrics(string(text), &metrics); err != nil {
		t.Fatalf("reading the server's metrics: %v", err)
	}
	return metrics
}

// Sum adds up the series of a metric that have all of the labels.
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
