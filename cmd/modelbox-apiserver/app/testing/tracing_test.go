// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package testing

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
)

// collector receives spans as an OpenTelemetry collector does.
type collector struct {
	collectortrace.UnimplementedTraceServiceServer
	// spans has the name of each span that was received.
	spans sync.Map
}

// Export implements collectortrace.TraceServiceServer.
func (c *collector) Export(_ context.Context, request *collectortrace.ExportTraceServiceRequest) (*collectortrace.ExportTraceServiceResponse, error) {
	for _, resource := range request.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				c.spans.Store(span.GetName(), true)
			}
		}
	}
	return &collectortrace.ExportTraceServiceResponse{}, nil
}

// startCollector starts a collector that serves until the end of the test, and returns where.
func startCollector(t *testing.T) (*collector, string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c, server := &collector{}, grpc.NewServer()
	collectortrace.RegisterTraceServiceServer(server, c)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return c, listener.Addr().String()
}

func TestRequestsAreTraced(t *testing.T) {
	c, endpoint := startCollector(t)
	file := filepath.Join(t.TempDir(), "tracing.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, `apiVersion: apiserver.config.k8s.io/v1
kind: TracingConfiguration
endpoint: %s
samplingRatePerMillion: 1000000
`, endpoint), 0o600); err != nil {
		t.Fatal(err)
	}
	server := StartTestServer(t, "--tracing-config-file="+file)
	client, err := versioned.NewForConfig(server.ClientConfig)
	if err != nil {
		t.Fatal(err)
	}
	box := &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: modelv1.ModelBoxSpec{Image: "nginx:1.7.9"}}
	if _, err := client.ModelV1().ModelBoxes(metav1.NamespaceDefault).Create(t.Context(), box, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Create", "Create etcd3"} {
		if err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
			_, received := c.spans.Load(name)
			return received, nil
		}); err != nil {
			t.Errorf("the collector did not receive span %q: %v", name, err)
		}
	}
}
