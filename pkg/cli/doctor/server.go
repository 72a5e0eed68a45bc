// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"
)

// server is one that can be asked.
type server struct {
	name   string
	client rest.Interface
	// dial opens a TLS connection to it.
	dial  func(context.Context) (*tls.Conn, error)
	close func()

	options *Options
}

// connect returns the server at an address, with the credentials of the user.
func (o *Options) connect(ctx context.Context, to address) (*server, error) {
	end := func() {}
	if to.pod != "" {
		port, stop, err := o.forward(ctx, to)
		if err != nil {
			return nil, err
		}
		to.host, to.port, end = "localhost", port, stop
	}
	host := net.JoinHostPort(to.host, strconv.Itoa(int(to.port)))
	service := o.apiService.Spec.Service
	config := rest.CopyConfig(o.config)
	config.Host, config.APIPath, config.Proxy, config.Timeout = "https://"+host, "", nil, requestTimeout
	config.CAFile, config.CAData = "", o.apiService.Spec.CABundle
	config.ServerName, config.Insecure = service.Name+"."+service.Namespace+".svc", o.apiService.Spec.InsecureSkipTLSVerify
	if config.Insecure {
		config.CAData = nil
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		end()
		return nil, err
	}
	return &server{
		name: to.name, client: client.Discovery().RESTClient(), close: end, options: o,
		dial: func(ctx context.Context) (*tls.Conn, error) {
			// What it serves with is looked at whether it is trusted or not.
			dialer := &tls.Dialer{NetDialer: &net.Dialer{Timeout: requestTimeout}, Config: &tls.Config{ServerName: config.ServerName, InsecureSkipVerify: true}} //nolint:gosec
			conn, err := dialer.DialContext(ctx, "tcp", host)
			if err != nil {
				return nil, err
			}
			return conn.(*tls.Conn), nil
		},
	}, nil
}

// forward forwards a local port to a pod until stop is called.
func (o *Options) forward(ctx context.Context, to address) (port int32, stop func(), err error) {
	url := o.client.CoreV1().RESTClient().Post().Resource("pods").Namespace(o.apiService.Spec.Service.Namespace).Name(to.pod).
		SubResource("portforward").URL()
	transport, upgrader, err := spdy.RoundTripperFor(o.config)
	if err != nil {
		return 0, nil, err
	}
	websocket, err := portforward.NewSPDYOverWebsocketDialerForStreaming(url, o.config)
	if err != nil {
		return 0, nil, err
	}
	dialer := portforward.NewFallbackDialerForStreaming(websocket, spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: transport}, http.MethodPost, url),
		func(err error) bool { return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err) })
	ready, ended := make(chan struct{}), make(chan error, 1)
	ctx, stop = context.WithCancel(ctx)
	forwarder, err := portforward.NewOnAddressesForStreaming(dialer, []string{"localhost"}, []string{fmt.Sprintf("0:%d", to.port)}, ctx.Done(), ready, io.Discard, io.Discard)
	if err != nil {
		stop()
		return 0, nil, err
	}
	go func() { ended <- forwarder.ForwardPorts() }()
	select {
	case <-ready:
	case err := <-ended:
		stop()
		return 0, nil, fmt.Errorf("forwarding a port to pod %s: %w", to.pod, err)
	}
	ports, err := forwarder.GetPorts()
	if err != nil {
		stop()
		return 0, nil, err
	}
	return int32(ports[0].Local), stop, nil
}

// check asks the server how it is, and for its version, which is empty where it does not say.
func (s *server) check(ctx context.Context) (found findings, version string) {
	name := "Server " + s.name
	conn, err := s.dial(ctx)
	if err != nil {
		return findings{failed(name, "cannot connect: %v", err)}, ""
	}
	certificate := conn.ConnectionState().PeerCertificates[0]
	_ = conn.Close()
	found = append(found, certificateFinding(name, "certificate", certificate.NotBefore, certificate.NotAfter, s.options.clock.Now()))
	if text, err := s.client.Get().AbsPath("/readyz").Param("verbose", "").DoRaw(ctx); err != nil {
		return append(found, failed(name, "not ready: %s", notReady(text, err))), ""
	}
	text, err := s.client.Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return append(found, fine(name, "ready"), unanswered(name, fmt.Errorf("getting its metrics: %w", err))), ""
	}
	families, err := parseMetrics(text)
	if err != nil {
		return append(found, fine(name, "ready"), failed(name, "cannot parse its metrics: %v", err)), ""
	}
	version = buildOf(families)
	found = append(found, fine(name, "ready, version %s", version))
	return append(found, storageFinding(name, families)...), version
}

// notReady returns the checks that have failed, or else the error.
func notReady(text []byte, err error) string {
	var checks []string
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "[-]"); ok {
			check, _, _ := strings.Cut(rest, " ")
			checks = append(checks, check)
		}
	}
	if len(checks) == 0 {
		return err.Error()
	}
	return strings.Join(checks, ", ")
}

func parseMetrics(text []byte) (map[string]*dto.MetricFamily, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(bytes.NewReader(text))
}

// buildOf returns the version that a server says it is.
func buildOf(families map[string]*dto.MetricFamily) string {
	for _, metric := range families["modelbox_build_info"].GetMetric() {
		for _, label := range metric.GetLabel() {
			if label.GetName() == "version" {
				return label.GetValue()
			}
		}
	}
	return "unknown"
}

// gauge returns the value of a metric without labels.
func gauge(families map[string]*dto.MetricFamily, name string) (float64, error) {
	metrics := families[name].GetMetric()
	if len(metrics) == 0 {
		return 0, errors.New("no metric " + name)
	}
	return metrics[0].GetGauge().GetValue(), nil
}

// storageFinding says how full the etcd in the server is; nothing for one outside, which its own operators look at.
func storageFinding(check string, families map[string]*dto.MetricFamily) findings {
	inUse, err := gauge(families, "modelbox_storage_in_use_bytes")
	if err != nil {
		return nil
	}
	quota, err := gauge(families, "modelbox_storage_quota_bytes")
	if err != nil || quota == 0 {
		return nil
	}
	const fullShare = 0.8 // as for the alert ModelBoxStoreNearlyFull
	text := fmt.Sprintf("etcd uses %s of %s", humanBytes(inUse), humanBytes(quota))
	for _, metric := range families["modelbox_storage_shortage"].GetMetric() {
		if metric.GetGauge().GetValue() == 1 {
			return findings{failed(check, "%s, and the server refuses new objects: %s", text, metric.GetLabel()[0].GetValue())}
		}
	}
	if inUse > fullShare*quota {
		return findings{warning(check, "%s, nearly full", text)}
	}
	return findings{fine(check, "%s", text)}
}

func humanBytes(bytes float64) string {
	const mebibyte = 1 << 20
	if bytes < mebibyte {
		return resource.NewQuantity(int64(bytes), resource.BinarySI).String()
	}
	return resource.NewQuantity(int64(bytes)/mebibyte*mebibyte, resource.BinarySI).String()
}
