// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

func httpGet(change func(*corev1.HTTPGetAction)) corev1.ProbeHandler {
	get := &corev1.HTTPGetAction{Port: intstr.FromInt32(8080)}
	change(get)
	return corev1.ProbeHandler{HTTPGet: get}
}

func tcpSocket(port intstr.IntOrString) corev1.ProbeHandler {
	return corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: port}}
}

func liveness(handler corev1.ProbeHandler) func(*model.ModelBox) {
	return func(box *model.ModelBox) { box.Spec.LivenessProbe = &corev1.Probe{ProbeHandler: handler} }
}

func TestProbeHandlers(t *testing.T) {
	check(t, []row{
		{"an HTTP check without path and scheme is accepted", liveness(httpGet(func(*corev1.HTTPGetAction) {})), nil},
		{"an HTTPS check with headers is accepted", liveness(httpGet(func(g *corev1.HTTPGetAction) {
			g.Path, g.Scheme, g.HTTPHeaders = "/healthz", corev1.URISchemeHTTPS, []corev1.HTTPHeader{{Name: "X-Check", Value: "1"}}
		})), nil},
		{"an HTTP check's scheme is HTTP or HTTPS", liveness(httpGet(func(g *corev1.HTTPGetAction) { g.Scheme = "http" })),
			[]string{"Unsupported value: spec.livenessProbe.httpGet.scheme"}},
		{"an HTTP check's header has a name", liveness(httpGet(func(g *corev1.HTTPGetAction) { g.HTTPHeaders = []corev1.HTTPHeader{{}} })),
			[]string{"Required value: spec.livenessProbe.httpGet.httpHeaders[0].name"}},
		{"an HTTP check's header has no colon in its name", liveness(httpGet(func(g *corev1.HTTPGetAction) { g.HTTPHeaders = []corev1.HTTPHeader{{Name: "X:"}} })),
			[]string{"Invalid value: spec.livenessProbe.httpGet.httpHeaders[0].name"}},
		{"an HTTP check's port is 1 or more", liveness(httpGet(func(g *corev1.HTTPGetAction) { g.Port = intstr.FromInt32(0) })),
			[]string{"Invalid value: spec.livenessProbe.httpGet.port"}},
		{"a TCP check is accepted", liveness(tcpSocket(intstr.FromInt32(1))), nil},
		{"a TCP check's port is 65535 or less", liveness(tcpSocket(intstr.FromInt32(65536))), []string{"Invalid value: spec.livenessProbe.tcpSocket.port"}},
		{"a gRPC check is accepted", liveness(corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 9090, Service: ptr.To("")}}), nil},
		{"a gRPC check has a port", liveness(corev1.ProbeHandler{GRPC: &corev1.GRPCAction{}}), []string{"Invalid value: spec.livenessProbe.grpc.port"}},
		{"a command is accepted", liveness(corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}}), nil},
		{"a command is not empty", liveness(corev1.ProbeHandler{Exec: &corev1.ExecAction{}}), []string{"Required value: spec.livenessProbe.exec.command"}},
		{"a probe checks something", liveness(corev1.ProbeHandler{}), []string{"Required value: spec.livenessProbe"}},
		{"a probe checks one thing", liveness(corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}, GRPC: &corev1.GRPCAction{Port: 9090}}),
			[]string{"Forbidden: spec.livenessProbe.grpc"}},
		{"a readiness probe is validated", func(box *model.ModelBox) { box.Spec.ReadinessProbe = &corev1.Probe{} }, []string{"Required value: spec.readinessProbe"}},
		{"a startup probe is validated", func(box *model.ModelBox) { box.Spec.StartupProbe = &corev1.Probe{} }, []string{"Required value: spec.startupProbe"}},
		{"a container's probe is validated", container(func(c *corev1.Container) { c.StartupProbe = &corev1.Probe{} }),
			[]string{"Required value: spec.containers[0].startupProbe"}},
	})
}

func TestProbePortNames(t *testing.T) {
	onContainer := func(name string) func(*model.ModelBox) {
		return container(func(c *corev1.Container) {
			c.LivenessProbe = &corev1.Probe{ProbeHandler: tcpSocket(intstr.FromString(name))}
		})
	}
	check(t, []row{
		{"a probe names a port of the box", liveness(tcpSocket(intstr.FromString("http"))), nil},
		{"a probe names the first of the ports that lead to its target",
			all(ports(servicePort("one", 80, 8080), servicePort("two", 81, 8080)), liveness(tcpSocket(intstr.FromString("two")))),
			[]string{"Invalid value: spec.livenessProbe.tcpSocket.port"}},
		{"a probe does not name a port whose name is too long for a container",
			all(port(func(p *corev1.ServicePort) { p.Name = "name-of-more-than-15" }), liveness(tcpSocket(intstr.FromString("name")))),
			[]string{"Invalid value: spec.livenessProbe.tcpSocket.port"}},
		{"a probe does not name a port of another container", all(container(func(*corev1.Container) {}), liveness(tcpSocket(intstr.FromString("metrics")))),
			[]string{"Invalid value: spec.livenessProbe.tcpSocket.port"}},
		{"a container's probe names a port of the container", onContainer("metrics"), nil},
		{"a container's probe does not name a port of the box", onContainer("http"), []string{"Invalid value: spec.containers[0].livenessProbe.tcpSocket.port"}},
		{"a probe's port name is a port name", onContainer("a_b"), []string{"Invalid value: spec.containers[0].livenessProbe.tcpSocket.port"}},
		{"a probe's port is not a quoted number", onContainer("9090"), []string{"Invalid value: spec.containers[0].livenessProbe.tcpSocket.port"}},
	})
}

func TestProbeTimings(t *testing.T) {
	probe := func(change func(*corev1.Probe)) *corev1.Probe {
		p := &corev1.Probe{ProbeHandler: tcpSocket(intstr.FromInt32(8080))}
		change(p)
		return p
	}
	readiness := func(change func(*corev1.Probe)) func(*model.ModelBox) {
		return func(box *model.ModelBox) { box.Spec.ReadinessProbe = probe(change) }
	}
	liveness := func(change func(*corev1.Probe)) func(*model.ModelBox) {
		return func(box *model.ModelBox) { box.Spec.LivenessProbe = probe(change) }
	}
	startup := func(change func(*corev1.Probe)) func(*model.ModelBox) {
		return func(box *model.ModelBox) { box.Spec.StartupProbe = probe(change) }
	}
	check(t, []row{
		{"timings may be left out", readiness(func(*corev1.Probe) {}), nil},
		{"timings are accepted", readiness(func(p *corev1.Probe) {
			p.InitialDelaySeconds, p.TimeoutSeconds, p.PeriodSeconds, p.SuccessThreshold, p.FailureThreshold = 1, 2, 3, 4, 5
		}), nil},
		{"timings are not negative", readiness(func(p *corev1.Probe) {
			p.InitialDelaySeconds, p.TimeoutSeconds, p.PeriodSeconds, p.SuccessThreshold, p.FailureThreshold = -1, -1, -1, -1, -1
		}), []string{
			"Invalid value: spec.readinessProbe.initialDelaySeconds", "Invalid value: spec.readinessProbe.timeoutSeconds",
			"Invalid value: spec.readinessProbe.periodSeconds", "Invalid value: spec.readinessProbe.successThreshold",
			"Invalid value: spec.readinessProbe.failureThreshold",
		}},
		{"a liveness probe succeeds at once", liveness(func(p *corev1.Probe) { p.SuccessThreshold = 2 }), []string{"Invalid value: spec.livenessProbe.successThreshold"}},
		{"a startup probe succeeds at once", startup(func(p *corev1.Probe) { p.SuccessThreshold = 2 }), []string{"Invalid value: spec.startupProbe.successThreshold"}},
		{"a success threshold of 1 is accepted", startup(func(p *corev1.Probe) { p.SuccessThreshold = 1 }), nil},
		{"a liveness probe may have a grace period", liveness(func(p *corev1.Probe) { p.TerminationGracePeriodSeconds = ptr.To[int64](1) }), nil},
		{"a grace period is 1 or more", startup(func(p *corev1.Probe) { p.TerminationGracePeriodSeconds = ptr.To[int64](0) }),
			[]string{"Invalid value: spec.startupProbe.terminationGracePeriodSeconds"}},
		{"a readiness probe has no grace period", readiness(func(p *corev1.Probe) { p.TerminationGracePeriodSeconds = ptr.To[int64](1) }),
			[]string{"Forbidden: spec.readinessProbe.terminationGracePeriodSeconds"}},
	})
}

func TestDisabledDefaultProbes(t *testing.T) {
	disabled := func(probes ...model.DefaultProbe) func(*model.ModelBox) {
		return func(box *model.ModelBox) { box.Spec.DisabledDefaultProbes = probes }
	}
	check(t, []row{
		{"each default probe is switched off", disabled("Readiness", "Liveness", "Startup"), nil},
		{"a default probe is switched off once", disabled("Startup", "Startup"), []string{"Duplicate value: spec.disabledDefaultProbes[1]"}},
		{"a probe that there is not is not switched off", disabled("startup"), []string{"Unsupported value: spec.disabledDefaultProbes[0]"}},
	})
}

func TestHooks(t *testing.T) {
	preStop := func(hook corev1.LifecycleHandler) func(*model.ModelBox) {
		return container(func(c *corev1.Container) { c.Lifecycle = &corev1.Lifecycle{PreStop: &hook} })
	}
	sleep := func(seconds int64) func(*model.ModelBox) {
		return preStop(corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: seconds}})
	}
	check(t, []row{
		{"a hook that sleeps as long as the pod has is accepted", sleep(30), nil},
		{"a hook that does not sleep is accepted", sleep(0), nil},
		{"a hook does not sleep longer than the pod has", sleep(31), []string{"Invalid value: spec.containers[0].lifecycle.preStop.sleep.seconds"}},
		{"a hook does not sleep backwards", sleep(-1), []string{"Invalid value: spec.containers[0].lifecycle.preStop.sleep.seconds"}},
		{"a hook that runs a command is accepted", preStop(corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"stop"}}}), nil},
		{"a hook's command is not empty", preStop(corev1.LifecycleHandler{Exec: &corev1.ExecAction{}}), []string{"Required value: spec.containers[0].lifecycle.preStop.exec.command"}},
		{"a hook's port is named by the container", preStop(corev1.LifecycleHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromString("metrics")}}), nil},
		{"a hook's port is not named by another container", preStop(corev1.LifecycleHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromString("http")}}),
			[]string{"Invalid value: spec.containers[0].lifecycle.preStop.tcpSocket.port"}},
		{"a hook does something", preStop(corev1.LifecycleHandler{}), []string{"Required value: spec.containers[0].lifecycle.preStop"}},
		{"a hook does one thing", preStop(corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"stop"}}, Sleep: &corev1.SleepAction{Seconds: 1}}),
			[]string{"Forbidden: spec.containers[0].lifecycle.preStop.sleep"}},
		{"a hook after the start is validated", container(func(c *corev1.Container) { c.Lifecycle = &corev1.Lifecycle{PostStart: &corev1.LifecycleHandler{}} }),
			[]string{"Required value: spec.containers[0].lifecycle.postStart"}},
		{"a stop signal needs an operating system", container(func(c *corev1.Container) { c.Lifecycle = &corev1.Lifecycle{StopSignal: ptr.To(corev1.SIGUSR1)} }),
			[]string{"Forbidden: spec.containers[0].lifecycle.stopSignal"}},
	})
}
