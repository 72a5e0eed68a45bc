// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

var schemes = []corev1.URIScheme{corev1.URISchemeHTTP, corev1.URISchemeHTTPS}

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
	)
	for i, header := range validate.Each(get.HTTPHeaders, &errs) {
		errs = append(errs, validate.Format(header.Name, validation.IsHTTPHeaderName, path.Child("httpHeaders").Index(i).Child("name"))...)
	}
	return errs
}

func (r handlerContext) validateTCPSocketAction(socket *corev1.TCPSocketAction, path *field.Path) field.ErrorList {
	return r.validatePort(socket.Port, path.Child("port"))
}

func validateGRPCAction(grpc *corev1.GRPCAction, path *field.Path) field.ErrorList {
	return validate.Invalid(path.Child("port"), grpc.Port, validation.IsValidPortNum(int(grpc.Port)))
}

func (r handlerContext) validateSleepAction(sleep *corev1.SleepAction, path *field.Path) field.ErrorList {
	if sleep.Seconds >= 0 && sleep.Seconds <= r.gracePeriod {
		return nil
	}
	detail := fmt.Sprintf("must be between 0 and %d: pods are given %[1]d seconds to end", r.gracePeriod)
	return field.ErrorList{field.Invalid(path.Child("seconds"), sleep.Seconds, detail)}
}

// validatePort requires that a name is that of a port of the container: the cluster would take any, and the check
// would fail for ever.
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
