// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

func httpGet(change func(*corev1.HTTPGetAction)) corev1.ProbeHandler {
	get := &corev1.HTTPGetAction{Port: intstr.FromInt32(8080)}
	change(get)
	return corev1.ProbeHandler{HTTPGet: get}
}

func tcpSocket(port intstr.IntOrString) corev1.ProbeHandler {
	return corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: port}}
}

func liveness(handler corev1.ProbeHandler) func(*corev1.PodTemplateSpec) {
	return func(template *corev1.PodTemplateSpec) {
		template.Spec.Containers[0].LivenessProbe = &corev1.Probe{ProbeHandler: handler}
	}
}

func TestProbeHandlers(t *testing.T) {
	check(t, []row{
		{"an HTTP check without path and scheme is accepted", liveness(httpGet(func(*corev1.HTTPGetAction) {})), nil},
		{"an HTTPS check with headers is accepted", liveness(httpGet(func(g *corev1.HTTPGetAction) {
			g.Path, g.Scheme, g.HTTPHeaders = "/healthz", corev1.URISchemeHTTPS, []corev1.HTTPHeader{{Name: "X-Check", Value: "1"}}
		})), nil},
		{"an HTTP check's scheme is HTTP or HTTPS", liveness(httpGet(func(g *corev1.HTTPGetAction) { g.Scheme = "http" })),
			[]string{"Unsupported value: spec.containers[0].livenessProbe.httpGet.scheme"}},
		{"an HTTP check by HTTP/2 is accepted", liveness(httpGet(func(g *corev1.HTTPGetAction) { g.Protocol = ptr.To(corev1.HTTPProtocolHTTP2) })), nil},
		{"an HTTPS check by HTTP/1 is accepted", liveness(httpGet(func(g *corev1.HTTPGetAction) {
			g.Scheme, g.Protocol = corev1.URISchemeHTTPS, ptr.To(corev1.HTTPProtocolHTTP1)
		})), nil},
		{"an HTTP check's protocol is HTTP1 or HTTP2", liveness(httpGet(func(g *corev1.HTTPGetAction) { g.Protocol = ptr.To(corev1.HTTPProtocol("HTTP3")) })),
			[]string{"Unsupported value: spec.containers[0].livenessProbe.httpGet.protocol"}},
		{"an HTTPS check by HTTP/2 is refused", liveness(httpGet(func(g *corev1.HTTPGetAction) {
			g.Scheme, g.Protocol = corev1.URISchemeHTTPS, ptr.To(corev1.HTTPProtocolHTTP2)
		})), []string{"Invalid value: spec.containers[0].livenessProbe.httpGet.protocol"}},
		{"an HTTP check by HTTP/2 has no host", liveness(httpGet(func(g *corev1.HTTPGetAction) {
			g.Host, g.Protocol = "127.0.0.1", ptr.To(corev1.HTTPProtocolHTTP2)
		})), []string{"Invalid value: spec.containers[0].livenessProbe.httpGet.host"}},
		{"an HTTP check's header has a name", liveness(httpGet(func(g *corev1.HTTPGetAction) { g.HTTPHeaders = []corev1.HTTPHeader{{}} })),
			[]string{"Required value: spec.containers[0].livenessProbe.httpGet.httpHeaders[0].name"}},
		{"an HTTP check's header has no colon in its name", liveness(httpGet(func(g *corev1.HTTPGetAction) { g.HTTPHeaders = []corev1.HTTPHeader{{Name: "X:"}} })),
			[]string{"Invalid value: spec.containers[0].livenessProbe.httpGet.httpHeaders[0].name"}},
		{"an HTTP check's port is 1 or more", liveness(httpGet(func(g *corev1.HTTPGetAction) { g.Port = intstr.FromInt32(0) })),
			[]string{"Invalid value: spec.containers[0].livenessProbe.httpGet.port"}},
		{"a TCP check is accepted", liveness(tcpSocket(intstr.FromInt32(1))), nil},
		{"a TCP check's port is 65535 or less", liveness(tcpSocket(intstr.FromInt32(65536))), []string{"Invalid value: spec.containers[0].livenessProbe.tcpSocket.port"}},
		{"a gRPC check is accepted", liveness(corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 9090, Service: ptr.To("")}}), nil},
		{"a gRPC check by TLS is accepted", liveness(corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 9090, Mode: ptr.To(corev1.GRPCProbeModeTLS)}}), nil},
		{"a gRPC check's mode is Plaintext or TLS", liveness(corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 9090, Mode: ptr.To(corev1.GRPCProbeMode("tls"))}}),
			[]string{"Unsupported value: spec.containers[0].livenessProbe.grpc.mode"}},
		{"a gRPC check has a port", liveness(corev1.ProbeHandler{GRPC: &corev1.GRPCAction{}}), []string{"Invalid value: spec.containers[0].livenessProbe.grpc.port"}},
		{"a command is accepted", liveness(corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}}), nil},
		{"a command is not empty", liveness(corev1.ProbeHandler{Exec: &corev1.ExecAction{}}), []string{"Required value: spec.containers[0].livenessProbe.exec.command"}},
		{"a probe checks something", liveness(corev1.ProbeHandler{}), []string{"Required value: spec.containers[0].livenessProbe"}},
		{"a probe checks one thing", liveness(corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}, GRPC: &corev1.GRPCAction{Port: 9090}}),
			[]string{"Forbidden: spec.containers[0].livenessProbe.grpc"}},
		{"a readiness probe is validated", func(template *corev1.PodTemplateSpec) { template.Spec.Containers[0].ReadinessProbe = &corev1.Probe{} }, []string{"Required value: spec.containers[0].readinessProbe"}},
		{"a startup probe is validated", func(template *corev1.PodTemplateSpec) { template.Spec.Containers[0].StartupProbe = &corev1.Probe{} }, []string{"Required value: spec.containers[0].startupProbe"}},
		{"a container's probe is validated", container(func(c *corev1.Container) { c.StartupProbe = &corev1.Probe{} }),
			[]string{"Required value: spec.containers[1].startupProbe"}},
	})
}

func TestProbePortNames(t *testing.T) {
	onContainer := func(name string) func(*corev1.PodTemplateSpec) {
		return container(func(c *corev1.Container) {
			c.LivenessProbe = &corev1.Probe{ProbeHandler: tcpSocket(intstr.FromString(name))}
		})
	}
	check(t, []row{
		{"a probe does not name a port of another container", all(container(func(*corev1.Container) {}), liveness(tcpSocket(intstr.FromString("metrics")))),
			[]string{"Invalid value: spec.containers[0].livenessProbe.tcpSocket.port"}},
		{"a container's probe names a port of the container", onContainer("metrics"), nil},
		{"a container's probe does not name a port of the box", onContainer("http"), []string{"Invalid value: spec.containers[1].livenessProbe.tcpSocket.port"}},
		{"a probe's port name is a port name", onContainer("a_b"), []string{"Invalid value: spec.containers[1].livenessProbe.tcpSocket.port"}},
		{"a probe's port is not a quoted number", onContainer("9090"), []string{"Invalid value: spec.containers[1].livenessProbe.tcpSocket.port"}},
	})
}

func TestProbeTimings(t *testing.T) {
	probe := func(change func(*corev1.Probe)) *corev1.Probe {
		p := &corev1.Probe{ProbeHandler: tcpSocket(intstr.FromInt32(8080))}
		change(p)
		return p
	}
	readiness := func(change func(*corev1.Probe)) func(*corev1.PodTemplateSpec) {
		return func(template *corev1.PodTemplateSpec) { template.Spec.Containers[0].ReadinessProbe = probe(change) }
	}
	liveness := func(change func(*corev1.Probe)) func(*corev1.PodTemplateSpec) {
		return func(template *corev1.PodTemplateSpec) { template.Spec.Containers[0].LivenessProbe = probe(change) }
	}
	startup := func(change func(*corev1.Probe)) func(*corev1.PodTemplateSpec) {
		return func(template *corev1.PodTemplateSpec) { template.Spec.Containers[0].StartupProbe = probe(change) }
	}
	check(t, []row{
		{"timings may be left out", readiness(func(*corev1.Probe) {}), nil},
		{"timings are accepted", readiness(func(p *corev1.Probe) {
			p.InitialDelaySeconds, p.TimeoutSeconds, p.PeriodSeconds, p.SuccessThreshold, p.FailureThreshold = 1, 2, 3, 4, 5
		}), nil},
		{"timings are not negative", readiness(func(p *corev1.Probe) {
			p.InitialDelaySeconds, p.TimeoutSeconds, p.PeriodSeconds, p.SuccessThreshold, p.FailureThreshold = -1, -1, -1, -1, -1
		}), []string{
			"Invalid value: spec.containers[0].readinessProbe.initialDelaySeconds", "Invalid value: spec.containers[0].readinessProbe.timeoutSeconds",
			"Invalid value: spec.containers[0].readinessProbe.periodSeconds", "Invalid value: spec.containers[0].readinessProbe.successThreshold",
			"Invalid value: spec.containers[0].readinessProbe.failureThreshold",
		}},
		{"a liveness probe succeeds at once", liveness(func(p *corev1.Probe) { p.SuccessThreshold = 2 }), []string{"Invalid value: spec.containers[0].livenessProbe.successThreshold"}},
		{"a startup probe succeeds at once", startup(func(p *corev1.Probe) { p.SuccessThreshold = 2 }), []string{"Invalid value: spec.containers[0].startupProbe.successThreshold"}},
		{"a success threshold of 1 is accepted", startup(func(p *corev1.Probe) { p.SuccessThreshold = 1 }), nil},
		{"a liveness probe may have a grace period", liveness(func(p *corev1.Probe) { p.TerminationGracePeriodSeconds = ptr.To[int64](1) }), nil},
		{"a grace period is 1 or more", startup(func(p *corev1.Probe) { p.TerminationGracePeriodSeconds = ptr.To[int64](0) }),
			[]string{"Invalid value: spec.containers[0].startupProbe.terminationGracePeriodSeconds"}},
		{"a readiness probe has no grace period", readiness(func(p *corev1.Probe) { p.TerminationGracePeriodSeconds = ptr.To[int64](1) }),
			[]string{"Forbidden: spec.containers[0].readinessProbe.terminationGracePeriodSeconds"}},
	})
}

func TestHooks(t *testing.T) {
	preStop := func(hook corev1.LifecycleHandler) func(*corev1.PodTemplateSpec) {
		return container(func(c *corev1.Container) { c.Lifecycle = &corev1.Lifecycle{PreStop: &hook} })
	}
	sleep := func(seconds int64) func(*corev1.PodTemplateSpec) {
		return preStop(corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: seconds}})
	}
	check(t, []row{
		{"a hook that sleeps as long as the pod has is accepted", sleep(30), nil},
		{"a hook that does not sleep is accepted", sleep(0), nil},
		{"a hook does not sleep longer than the pod has", sleep(31), []string{"Invalid value: spec.containers[1].lifecycle.preStop.sleep.seconds"}},
		{"a hook does not sleep backwards", sleep(-1), []string{"Invalid value: spec.containers[1].lifecycle.preStop.sleep.seconds"}},
		{"a hook that runs a command is accepted", preStop(corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"stop"}}}), nil},
		{"a hook's command is not empty", preStop(corev1.LifecycleHandler{Exec: &corev1.ExecAction{}}), []string{"Required value: spec.containers[1].lifecycle.preStop.exec.command"}},
		{"a hook's port is named by the container", preStop(corev1.LifecycleHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromString("metrics")}}), nil},
		{"a hook's port is not named by another container", preStop(corev1.LifecycleHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromString("http")}}),
			[]string{"Invalid value: spec.containers[1].lifecycle.preStop.tcpSocket.port"}},
		{"a hook does something", preStop(corev1.LifecycleHandler{}), []string{"Required value: spec.containers[1].lifecycle.preStop"}},
		{"a hook does one thing", preStop(corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"stop"}}, Sleep: &corev1.SleepAction{Seconds: 1}}),
			[]string{"Forbidden: spec.containers[1].lifecycle.preStop.sleep"}},
		{"a hook after the start is validated", container(func(c *corev1.Container) { c.Lifecycle = &corev1.Lifecycle{PostStart: &corev1.LifecycleHandler{}} }),
			[]string{"Required value: spec.containers[1].lifecycle.postStart"}},
		{"a stop signal needs an operating system", container(func(c *corev1.Container) { c.Lifecycle = &corev1.Lifecycle{StopSignal: ptr.To(corev1.SIGUSR1)} }),
			[]string{"Forbidden: spec.containers[1].lifecycle.stopSignal"}},
	})
}
