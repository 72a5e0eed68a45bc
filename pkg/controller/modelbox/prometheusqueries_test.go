// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/testutil"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/prometheus"
)

func TestQueriesAreCounted(t *testing.T) {
	registry, counted := metrics.NewKubeRegistry(), newControllerMetrics()
	counted.register(registry.MustRegister, registry.CustomMustRegister)
	stub := &prometheusStub{}
	counting := &countingPrometheus{stub, counted.prometheusQueries}
	for _, err := range []error{
		nil, nil, nil,
		fmt.Errorf("querying: %w", &prometheus.Error{Message: "it answers with status 400", IsQueryRefused: true}),
		&prometheus.Error{Message: "it answers with status 500"},
		errors.New("the connection failed"),
	} {
		stub.answer(1, err)
		if _, got := counting.Query(t.Context(), "up"); !errors.Is(got, err) {
			t.Errorf("got the error %v, want %v", got, err)
		}
	}
	const want = `# HELP modelbox_controller_prometheus_queries_total [ALPHA] Number of queries of checks of rollouts to Prometheus, by result: success, refused if Prometheus reports an error in the query, or error.
# TYPE modelbox_controller_prometheus_queries_total counter
modelbox_controller_prometheus_queries_total{result="error"} 2
modelbox_controller_prometheus_queries_total{result="refused"} 1
modelbox_controller_prometheus_queries_total{result="success"} 3
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "modelbox_controller_prometheus_queries_total"); err != nil {
		t.Error(err)
	}
}
