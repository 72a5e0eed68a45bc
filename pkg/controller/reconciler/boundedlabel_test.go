// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/testutil"
)

func TestALabelKeepsTheFirstOfItsValues(t *testing.T) {
	label := newBoundedLabel(2)
	var got []string
	for _, value := range []string{"helm", "helm", "kubectl-edit", "argocd", "helm", "kubectl-edit", "flux"} {
		got = append(got, label.bound(value))
	}
	want := []string{"helm", "helm", "kubectl-edit", "other", "helm", "kubectl-edit", "other"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A field manager is any bytes that a request names, and a metric panics on those that are no text.
func TestALabelIsText(t *testing.T) {
	measured, registry := NewMetrics("modelbox", "box", "boxes"), metrics.NewKubeRegistry()
	measured.Register(registry.MustRegister, registry.CustomMustRegister)
	measured.DriftRestored("Deployment", "not \xff text")
	counted, err := testutil.GetCounterValuesFromGatherer(registry, "modelbox_controller_drift_restored_total", nil, "manager")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]float64{"not \uFFFD text": 1}, counted); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestALabelIsBoundedForConcurrentUsers(t *testing.T) {
	const limit, users = 5, 10
	label := newBoundedLabel(limit)
	values := make([]string, users*limit)
	var using sync.WaitGroup
	for i := range values {
		using.Go(func() { values[i] = label.bound(fmt.Sprint(i)) })
	}
	using.Wait()
	if got := len(sets.New(values...)); got != limit+1 {
		t.Errorf("got %d values, want %d and %q", got, limit, otherValue)
	}
}
