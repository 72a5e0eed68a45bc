// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ground

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"k8s.io/client-go/rest"
)

// Metrics are those of one server at one time.
type Metrics map[string]*dto.MetricFamily

// Sum adds up the series of a metric that have all of the labels.
func (m Metrics) Sum(name string, labels map[string]string) float64 {
	total := 0.0
	for _, series := range m[name].GetMetric() {
		if !hasLabels(series, labels) {
			continue
		}
		total += series.GetCounter().GetValue() + series.GetGauge().GetValue() + series.GetUntyped().GetValue()
	}
	return total
}

func hasLabels(series *dto.Metric, labels map[string]string) bool {
	matching := 0
	for _, pair := range series.GetLabel() {
		if value, asked := labels[pair.GetName()]; asked && value == pair.GetValue() {
			matching++
		}
	}
	return matching == len(labels)
}

// Metrics returns the present metrics of one of the servers that keep objects.
func (g *Ground) Metrics(ctx context.Context, server string) (Metrics, error) {
	text, err := g.scrape(ctx, server)
	if err != nil {
		return nil, fmt.Errorf("reading the metrics of %s: %w", server, err)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	metrics, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("reading the metrics of %s: %w", server, err)
	}
	return metrics, nil
}

func (g *Ground) scrape(ctx context.Context, server string) ([]byte, error) {
	if server == etcd {
		return g.scrapeEtcd(ctx)
	}
	client, err := g.serverClient(server)
	if err != nil {
		return nil, err
	}
	return client.Get().AbsPath("/metrics").DoRaw(ctx)
}

func (g *Ground) scrapeEtcd(ctx context.Context) ([]byte, error) {
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(g.Dir, string(ClusterEtcd)))
		},
	}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://etcd/metrics", nil)
	if err != nil {
		return nil, err
	}
	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("etcd answers %s", answer.Status)
	}
	return io.ReadAll(answer.Body)
}

// serverClient is an administrator's client of one of the API servers, and no other on the way.
func (g *Ground) serverClient(server string) (*rest.RESTClient, error) {
	config := g.Admin
	if server == APIServer {
		var err error
		if config, err = g.direct(); err != nil {
			return nil, err
		}
	}
	client, err := rest.UnversionedRESTClientFor(unversioned(config))
	if err != nil {
		return nil, fmt.Errorf("creating a client for %s: %w", server, err)
	}
	return client, nil
}

// Memory is what the servers that keep objects have of it, in bytes.
type Memory struct {
	// Needed is resident, without what their Go runtimes have for later use.
	Needed float64
	// Allocated is all that was allocated since they have started.
	Allocated float64
}

// Memory returns what the servers that keep objects have of memory.
func (g *Ground) Memory(ctx context.Context) (*Memory, error) { return g.MemoryOf(ctx, stores...) }

// MemoryOf is Memory of the servers that are named.
func (g *Ground) MemoryOf(ctx context.Context, servers ...string) (*Memory, error) {
	usage, err := g.usage(servers)
	if err != nil {
		return nil, err
	}
	memory := &Memory{}
	for name, used := range usage {
		metrics, err := g.Metrics(ctx, name)
		if err != nil {
			return nil, err
		}
		unused := metrics.Sum("go_memstats_heap_idle_bytes", nil) - metrics.Sum("go_memstats_heap_released_bytes", nil)
		memory.Needed += float64(used.Resident) - unused
		memory.Allocated += metrics.Sum("go_memstats_alloc_bytes_total", nil)
	}
	return memory, nil
}
