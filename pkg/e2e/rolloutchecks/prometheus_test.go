// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rolloutchecks

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// errorsMetric is the metric of the pods of boxes: 0 with the image framework.Image, and 1 with any other one.
const errorsMetric = "app_errors"

// prometheus is a Prometheus, and what it scrapes.
type prometheus struct {
	dir     string
	address string
	// plane has the pods. It starts after Prometheus.
	plane   atomic.Pointer[framework.ControlPlane]
	command *exec.Cmd
	ended   chan error
}

// newPrometheus starts a Prometheus that scrapes the metrics of all pods of boxes.
func newPrometheus(t *testing.T) *prometheus {
	t.Helper()
	if _, err := os.Stat(framework.Binary("prometheus")); err != nil {
		t.Skipf("there is no Prometheus: make prometheus gets it where Debian has it: %v", err)
	}
	p := &prometheus{dir: t.TempDir(), address: fmt.Sprintf("127.0.0.1:%d", framework.FreePort(t))}
	exporter := httptest.NewServer(http.HandlerFunc(p.serveMetrics))
	t.Cleanup(exporter.Close)
	config := fmt.Sprintf(`
global: {scrape_interval: 1s, scrape_timeout: 1s}
scrape_configs:
- job_name: pods
  honor_labels: true
  static_configs: [{targets: [%q]}]
`, strings.TrimPrefix(exporter.URL, "http://"))
	if err := os.WriteFile(p.path("prometheus.yml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	p.start(t)
	t.Cleanup(func() {
		p.stop(t)
		if content, err := os.ReadFile(p.path("log")); t.Failed() && err == nil {
			t.Logf("log of Prometheus:\n%s", content)
		}
	})
	return p
}

func (p *prometheus) path(name string) string { return filepath.Join(p.dir, name) }

// start starts the process, and returns when it answers.
func (p *prometheus) start(t *testing.T) {
	t.Helper()
	p.command = exec.Command(framework.Binary("prometheus"), "--config.file="+p.path("prometheus.yml"), "--storage.tsdb.path="+p.path("data"),
		"--web.listen-address="+p.address)
	var err error
	if p.ended, err = framework.StartLoggedProcess(p.command, p.path("log"), syscall.SIGKILL); err != nil {
		t.Fatalf("starting Prometheus: %v", err)
	}
	framework.Eventually(t, framework.Patience, "Prometheus is ready", func() error {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+p.address+"/-/ready", nil)
		if err != nil {
			return err
		}
		_, err = framework.Answer(http.DefaultClient, request)
		return err
	})
}

// stop ends the process.
func (p *prometheus) stop(t *testing.T) {
	t.Helper()
	if err := p.command.Process.Kill(); err != nil {
		t.Fatalf("stopping Prometheus: %v", err)
	}
	<-p.ended
}

// serveMetrics answers a scrape with the metrics of all pods of boxes.
func (p *prometheus) serveMetrics(w http.ResponseWriter, r *http.Request) {
	plane := p.plane.Load()
	if plane == nil {
		return
	}
	pods, err := plane.KubeClient.CoreV1().Pods(metav1.NamespaceAll).List(r.Context(), metav1.ListOptions{LabelSelector: modelv1.SelectorLabel})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	for i := range pods.Items {
		value := 0
		if pods.Items[i].Spec.Containers[0].Image != framework.Image {
			value = 1
		}
		fmt.Fprintf(w, "%s{namespace=%q,pod=%q} %d\n", errorsMetric, pods.Items[i].Namespace, pods.Items[i].Name, value)
	}
}
