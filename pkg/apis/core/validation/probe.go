// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

var (
	schemes       = []corev1.URIScheme{corev1.URISchemeHTTP, corev1.URISchemeHTTPS}
	httpProtocols = []corev1.HTTPProtocol{corev1.HTTPProtocolHTTP1, corev1.HTTPProtocolHTTP2}
	grpcModes     = []corev1.GRPCProbeMode{corev1.GRPCProbeModePlaintext, corev1.GRPCProbeModeTLS}
)

var (
	windowsSignals = []corev1.Signal{corev1.SIGKILL, corev1.SIGTERM}
	linuxSignals   = slices.Concat([]corev1.Signal{
		corev1.SIGABRT, corev1.SIGALRM, corev1.SIGBUS, corev1.SIGCHLD, corev1.SIGCLD, corev1.SIGCONT, corev1.SIGFPE, corev1.SIGHUP,
		corev1.SIGILL, corev1.SIGINT, corev1.SIGIO, corev1.SIGIOT, corev1.SIGKILL, corev1.SIGPIPE, corev1.SIGPOLL, corev1.SIGPROF,
		corev1.SIGPWR, corev1.SIGQUIT, corev1.SIGSEGV, corev1.SIGSTKFLT, corev1.SIGSTOP, corev1.SIGSYS, corev1.SIGTERM,
		corev1.SIGTRAP, corev1.SIGTSTP, corev1.SIGTTIN, corev1.SIGTTOU, corev1.SIGURG, corev1.SIGUSR1, corev1.SIGUSR2,
		corev1.SIGVTALRM, corev1.SIGWINCH, corev1.SIGXCPU, corev1.SIGXFSZ,
	}, realTimeSignals())
)

func validateReadinessProbe(probe *corev1.Probe, handlers handlerContext, path *field.Path) field.ErrorList {
	if probe == nil {
		return nil
	}
	errs := validateProbe(probe, handlers, path)
	if probe.TerminationGracePeriodSeconds != nil {
		errs = append(errs, field.Forbidden(path.Child("terminationGracePeriodSeconds"),
			"may only be given to a livenessProbe or a startupProbe: a readinessProbe ends no container"))
	}
	return errs
}

// validateContainerProbe validates a liveness or startup probe: one whose failure ends the container.
func validateContainerProbe(probe *corev1.Probe, handlers handlerContext, path *field.Path) field.ErrorList {
	if probe == nil {
		return nil
	}
	errs := validateProbe(probe, handlers, path)
	if probe.SuccessThreshold > 1 {
		errs = append(errs, field.Invalid(path.Child("successThreshold"), probe.SuccessThreshold, "must be 1"))
	}
	if seconds := probe.TerminationGracePeriodSeconds; seconds != nil && *seconds < 1 {
		errs = append(errs, field.Invalid(path.Child("terminationGracePeriodSeconds"), *seconds, "must be greater than zero"))
	}
	return errs
}

// validateProbe holds for all probes. A timing of 0 is one that the cluster defaults.
func validateProbe(probe *corev1.Probe, handlers handlerContext, path *field.Path) field.ErrorList {
	return slices.Concat(
		validate.ExactlyOneOf([]validate.Member{
			validate.MemberOf("exec", probe.Exec, validateExecAction),
			validate.MemberOf("httpGet", probe.HTTPGet, handlers.validateHTTPGetAction),
			validate.MemberOf("tcpSocket", probe.TCPSocket, handlers.validateTCPSocketAction),
			validate.MemberOf("grpc", probe.GRPC, validateGRPCAction),
		}, path),
		apivalidation.ValidateNonnegativeField(int64(probe.InitialDelaySeconds), path.Child("initialDelaySeconds")),
		apivalidation.ValidateNonnegativeField(int64(probe.TimeoutSeconds), path.Child("timeoutSeconds")),
		apivalidation.ValidateNonnegativeField(int64(probe.PeriodSeconds), path.Child("periodSeconds")),
		apivalidation.ValidateNonnegativeField(int64(probe.SuccessThreshold), path.Child("successThreshold")),
		apivalidation.ValidateNonnegativeField(int64(probe.FailureThreshold), path.Child("failureThreshold")),
	)
}

// handlerContext validates the handlers of probes and hooks, given the names of their container's ports, the seconds that
// its pod is given to end, and the operating system that the pod names.
type handlerContext struct {
	ports       sets.Set[string]
	gracePeriod int64
	os          corev1.OSName
}

func (r handlerContext) validateLifecycle(lifecycle *corev1.Lifecycle, path *field.Path) field.ErrorList {
	if lifecycle == nil {
		return nil
	}
	var errs field.ErrorList
	if lifecycle.PostStart != nil {
		errs = append(errs, r.validateHandler(lifecycle.PostStart, path.Child("postStart"))...)
	}
	if lifecycle.PreStop != nil {
		errs = append(errs, r.validateHandler(lifecycle.PreStop, path.Child("preStop"))...)
	}
	if lifecycle.StopSignal != nil {
		errs = append(errs, r.validateStopSignal(*lifecycle.StopSignal, path.Child("stopSignal"))...)
	}
	return errs
}

func (r handlerContext) validateHandler(hook *corev1.LifecycleHandler, path *field.Path) field.ErrorList {
	return validate.ExactlyOneOf([]validate.Member{
		validate.MemberOf("exec", hook.Exec, validateExecAction),
		validate.MemberOf("httpGet", hook.HTTPGet, r.validateHTTPGetAction),
		validate.MemberOf("tcpSocket", hook.TCPSocket, r.validateTCPSocketAction),
		validate.MemberOf("sleep", hook.Sleep, r.validateSleepAction),
	}, path)
}

func validateExecAction(exec *corev1.ExecAction, path *field.Path) field.ErrorList {
	if len(exec.Command) > 0 {
		return nil
	}
	return field.ErrorList{field.Required(path.Child("command"), `must be a program and its arguments, such as ["cat", "/tmp/healthy"]`)}
}

func (r handlerContext) validateHTTPGetAction(get *corev1.HTTPGetAction, path *field.Path) field.ErrorList {
	errs := slices.Concat(
		r.validatePort(get.Port, path.Child("port")),
		validate.OptionalEnum(get.Scheme, schemes, path.Child("scheme")),
		validateHTTPProtocol(get, path),
	)
	for i, header := range validate.Each(get.HTTPHeaders, &errs) {
		errs = append(errs, validate.Format(header.Name, validation.IsHTTPHeaderName, path.Child("httpHeaders").Index(i).Child("name"))...)
	}
	return errs
}

// validateHTTPProtocol requires of HTTP/2 what a kubelet can do: without TLS, at the address of the pod.
func validateHTTPProtocol(get *corev1.HTTPGetAction, path *field.Path) field.ErrorList {
	errs := validate.EnumPointer(get.Protocol, httpProtocols, path.Child("protocol"))
	if get.Protocol == nil || *get.Protocol != corev1.HTTPProtocolHTTP2 {
		return errs
	}
	if get.Scheme != "" && get.Scheme != corev1.URISchemeHTTP {
		return append(errs, field.Invalid(path.Child("protocol"), *get.Protocol, "may only be given with the scheme HTTP"))
	}
	if get.Host != "" {
		errs = append(errs, field.Invalid(path.Child("host"), get.Host, "must be empty when protocol is HTTP2"))
	}
	return errs
}

func (r handlerContext) validateTCPSocketAction(socket *corev1.TCPSocketAction, path *field.Path) field.ErrorList {
	return r.validatePort(socket.Port, path.Child("port"))
}

func validateGRPCAction(grpc *corev1.GRPCAction, path *field.Path) field.ErrorList {
	return slices.Concat(
		validate.Invalid(path.Child("port"), grpc.Port, validation.IsValidPortNum(int(grpc.Port))),
		validate.EnumPointer(grpc.Mode, grpcModes, path.Child("mode")),
	)
}

func (r handlerContext) validateSleepAction(sleep *corev1.SleepAction, path *field.Path) field.ErrorList {
	if sleep.Seconds >= 0 && sleep.Seconds <= r.gracePeriod {
		return nil
	}
	detail := fmt.Sprintf("must be between 0 and %d: pods are given %[1]d seconds to end", r.gracePeriod)
	return field.ErrorList{field.Invalid(path.Child("seconds"), sleep.Seconds, detail)}
}

// validatePort requires that a name is the name of a port of the container. The cluster accepts any name, and the probe would fail
// forever.
func (r handlerContext) validatePort(port intstr.IntOrString, path *field.Path) field.ErrorList {
	errs := ValidatePortNumOrName(port, path)
	if len(errs) > 0 || port.Type == intstr.Int || r.ports.Has(port.StrVal) {
		return errs
	}
	detail := "must be a number: the container has no named port"
	if len(r.ports) > 0 {
		detail = fmt.Sprintf("must be a number or the name of a port of the container: %s", validate.JoinNames(sets.List(r.ports)))
	}
	return field.ErrorList{field.Invalid(path, port.StrVal, detail)}
}

// realTimeSignals are counted up from SIGRTMIN to the middle, and from there on down from SIGRTMAX.
func realTimeSignals() []corev1.Signal {
	signals := []corev1.Signal{corev1.SIGRTMIN}
	for i := 1; i <= 15; i++ {
		signals = append(signals, corev1.Signal(fmt.Sprintf("SIGRTMIN+%d", i)))
	}
	for i := 14; i >= 1; i-- {
		signals = append(signals, corev1.Signal(fmt.Sprintf("SIGRTMAX-%d", i)))
	}
	return append(signals, corev1.SIGRTMAX)
}

// validateStopSignal requires a pod that names its operating system: signals differ.
func (r handlerContext) validateStopSignal(signal corev1.Signal, path *field.Path) field.ErrorList {
	switch r.os {
	case "":
		return field.ErrorList{field.Forbidden(path, "needs os.name in the pod")}
	case corev1.Windows:
		return validate.Enum(signal, windowsSignals, path)
	}
	return validate.Enum(signal, linuxSignals, path)
}
