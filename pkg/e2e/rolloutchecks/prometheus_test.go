// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rolloutchecks

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// errorsMetric is the metric of the pods of boxes: 0 with the image framework.Image, and 1 with any other one.
const errorsMetric = "app_errors"

// prometheus is a Prometheus, and what it scrapes.
type prometheus struct {
	*framework.Prometheus
	pods framework.BoxPods
}

// newPrometheus starts a Prometheus that scrapes the metrics of all pods of boxes.
func newPrometheus(t *testing.T) *prometheus {
	t.Helper()
	p := &prometheus{}
	exporter := httptest.NewServer(http.HandlerFunc(p.serveMetrics))
	t.Cleanup(exporter.Close)
	p.Prometheus = framework.NewPrometheus(t, fmt.Sprintf(`
- job_name: pods
  honor_labels: true
  static_configs: [{targets: [%q]}]
`, strings.TrimPrefix(exporter.URL, "http://")))
	return p
}

// serveMetrics answers a scrape with the metrics of all pods of boxes.
func (p *prometheus) serveMetrics(w http.ResponseWriter, r *http.Request) {
	pods, err := p.pods.List(r.Context())
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	for i := range pods {
		value := 0
		if pods[i].Spec.Containers[0].Image != framework.Image {
			value = 1
		}
		fmt.Fprintf(w, "%s{namespace=%q,pod=%q} %d\n", errorsMetric, pods[i].Namespace, pods[i].Name, value)
	}
}
