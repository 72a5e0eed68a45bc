// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// podPrometheus is a Prometheus that scrapes the pods of boxes. The Prometheus of Debian does not discover pods itself.
type podPrometheus struct {
	*framework.Prometheus
	pods framework.BoxPods
}

func newPodPrometheus(t *testing.T) *podPrometheus {
	t.Helper()
	p := &podPrometheus{}
	discovery := httptest.NewServer(http.HandlerFunc(p.listTargets))
	t.Cleanup(discovery.Close)
	p.Prometheus = framework.NewPrometheus(t, fmt.Sprintf(`
- job_name: pods
  http_sd_configs: [{url: %q, refresh_interval: 1s}]
`, discovery.URL))
	return p
}

// target has the addresses of a list of targets for Prometheus.
type target struct {
	Targets []string          `json:"targets"`
	Labels  map[string]string `json:"labels"`
}

// listTargets answers with all pods of boxes that have an address.
func (p *podPrometheus) listTargets(w http.ResponseWriter, r *http.Request) {
	pods, err := p.pods.List(r.Context())
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	targets := []target{}
	for i := range pods {
		if pod := &pods[i]; pod.Status.PodIP != "" {
			targets = append(targets, target{[]string{net.JoinHostPort(pod.Status.PodIP, "80")}, map[string]string{"namespace": pod.Namespace, "pod": pod.Name}})
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(targets)
}
