// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package testbed

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

// Metrics is a snapshot of the metrics of one server.
type Metrics map[string]*dto.MetricFamily

// Sum returns the sum of the series of a metric with the labels.
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

// Metrics returns the current metrics of one of the servers that store objects.
func (bed *Testbed) Metrics(ctx context.Context, server string) (Metrics, error) {
	text, err := bed.scrape(ctx, server)
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

func (bed *Testbed) scrape(ctx context.Context, server string) ([]byte, error) {
	if server == etcd {
		return bed.scrapeEtcd(ctx)
	}
	client, err := bed.serverClient(server)
	if err != nil {
		return nil, err
	}
	return client.Get().AbsPath("/metrics").DoRaw(ctx)
}

func (bed *Testbed) scrapeEtcd(ctx context.Context) ([]byte, error) {
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(bed.Dir, string(ClusterEtcd)))
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

// serverClient returns a client of the administrator with a direct connection to one of the API servers.
func (bed *Testbed) serverClient(server string) (*rest.RESTClient, error) {
	config := bed.Admin
	if server == APIServer {
		var err error
		if config, err = bed.direct(); err != nil {
			return nil, err
		}
	}
	client, err := rest.UnversionedRESTClientFor(unversioned(config))
	if err != nil {
		return nil, fmt.Errorf("creating a client for %s: %w", server, err)
	}
	return client, nil
}

// Memory is the memory of the servers that store objects, in bytes.
type Memory struct {
	// Needed is the resident memory without the free memory of the Go runtimes.
	Needed float64
	// Allocated is the total of all allocations since the start of the servers.
	Allocated float64
}

// Memory returns the memory of the servers that store objects.
func (bed *Testbed) Memory(ctx context.Context) (*Memory, error) { return bed.MemoryOf(ctx, stores...) }

// MemoryOf returns the memory of the named servers.
func (bed *Testbed) MemoryOf(ctx context.Context, servers ...string) (*Memory, error) {
	usage, err := bed.usage(servers)
	if err != nil {
		return nil, err
	}
	memory := &Memory{}
	for name, used := range usage {
		metrics, err := bed.Metrics(ctx, name)
		if err != nil {
			return nil, err
		}
		unused := metrics.Sum("go_memstats_heap_idle_bytes", nil) - metrics.Sum("go_memstats_heap_released_bytes", nil)
		memory.Needed += float64(used.Resident) - unused
		memory.Allocated += metrics.Sum("go_memstats_alloc_bytes_total", nil)
	}
	return memory, nil
}
