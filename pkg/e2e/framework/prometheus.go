// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// Prometheus is the Prometheus of a test.
type Prometheus struct {
	// URL is the URL of its API.
	URL string

	dir, address string
	command      *exec.Cmd
	ended        chan error
}

// NewPrometheus starts a Prometheus that scrapes every second what the scrape_configs say. It is stopped at the end of the test. If
// there is no Prometheus, the test is skipped.
func NewPrometheus(t *testing.T, scrapeConfigs string) *Prometheus {
	t.Helper()
	if _, err := os.Stat(Binary("prometheus")); err != nil {
		t.Skipf("there is no Prometheus: make prometheus gets it where Debian has it: %v", err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", FreePort(t))
	p := &Prometheus{URL: "http://" + address, dir: t.TempDir(), address: address}
	config := "global: {scrape_interval: 1s, scrape_timeout: 1s}\nscrape_configs:\n" + scrapeConfigs
	if err := os.WriteFile(p.path("prometheus.yml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	p.Start(t)
	t.Cleanup(func() {
		p.Stop(t)
		if content, err := os.ReadFile(p.path("log")); t.Failed() && err == nil {
			t.Logf("log of Prometheus:\n%s", content)
		}
	})
	return p
}

func (p *Prometheus) path(name string) string { return filepath.Join(p.dir, name) }

// Start starts the process again after Stop, and returns when it answers.
func (p *Prometheus) Start(t *testing.T) {
	t.Helper()
	p.command = exec.Command(Binary("prometheus"), "--config.file="+p.path("prometheus.yml"), "--storage.tsdb.path="+p.path("data"),
		"--web.listen-address="+p.address)
	var err error
	if p.ended, err = StartLoggedProcess(p.command, p.path("log"), syscall.SIGKILL); err != nil {
		t.Fatalf("starting Prometheus: %v", err)
	}
	Eventually(t, Patience, "Prometheus is ready", func() error {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.URL+"/-/ready", nil)
		if err != nil {
			return err
		}
		_, err = Answer(http.DefaultClient, request)
		return err
	})
}

// Stop kills the process.
func (p *Prometheus) Stop(t *testing.T) {
	t.Helper()
	if err := p.command.Process.Kill(); err != nil {
		t.Fatalf("stopping Prometheus: %v", err)
	}
	<-p.ended
}
