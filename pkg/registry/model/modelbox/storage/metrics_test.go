// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"maps"
	"testing"

	storagemetrics "k8s.io/apiserver/pkg/storage/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

// listsServed returns how many lists this process has served, by where from: "etcd" or "watchcache", and from the
// latter with the name of the index after a slash. Its metrics are everybody's, so a test that asks is not parallel.
func listsServed(t *testing.T) map[string]int {
	t.Helper()
	storagemetrics.Register()
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	served := map[string]int{}
	for _, family := range families {
		if family.GetName() != "apiserver_storage_list_total" {
			continue
		}
		for _, metric := range family.GetMetric() {
			labels := map[string]string{}
			for _, label := range metric.GetLabel() {
				labels[label.GetName()] = label.GetValue()
			}
			from := labels["storage"]
			if index := labels["index"]; index != "" {
				from += "/" + index
			}
			served[from] += int(metric.GetCounter().GetValue())
		}
	}
	return served
}

// listsServedSince returns the lists that were served after before was taken.
func listsServedSince(t *testing.T, before map[string]int) map[string]int {
	t.Helper()
	served := listsServed(t)
	for from, count := range before {
		served[from] -= count
	}
	maps.DeleteFunc(served, func(_ string, count int) bool { return count == 0 })
	return served
}
