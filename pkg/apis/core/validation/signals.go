// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
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
