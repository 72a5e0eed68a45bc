// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateReadinessProbe(probe *corev1.Probe, handlers handlerRules, path *field.Path) field.ErrorList {
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

// validateRestartingProbe validates a liveness or startup probe: one whose failure ends the container.
func validateRestartingProbe(probe *corev1.Probe, handlers handlerRules, path *field.Path) field.ErrorList {
	if probe == nil {
		return nil
	}
	errs := validateProbe(probe, handlers, path)
	if probe.SuccessThreshold > 1 {
		errs = append(errs, field.Invalid(path.Child("successThreshold"), probe.SuccessThreshold, "must be 1"))
	}
	if seconds := probe.TerminationGracePeriodSeconds; seconds != nil && *seconds < 1 {
		errs = append(errs, field.Invalid(path.Child("terminationGracePeriodSeconds"), *seconds, "must be 1 or more"))
	}
	return errs
}

// validateProbe holds for all probes. A timing of 0 is one that the cluster defaults.
func validateProbe(probe *corev1.Probe, handlers handlerRules, path *field.Path) field.ErrorList {
	return slices.Concat(
		validateExactlyOne([]member{
			oneOf("exec", probe.Exec, validateExec),
			oneOf("httpGet", probe.HTTPGet, handlers.validateHTTPGet),
			oneOf("tcpSocket", probe.TCPSocket, handlers.validateTCPSocket),
			oneOf("grpc", probe.GRPC, validateGRPC),
		}, path),
		validateNonNegative(probe.InitialDelaySeconds, path.Child("initialDelaySeconds")),
		validateNonNegative(probe.TimeoutSeconds, path.Child("timeoutSeconds")),
		validateNonNegative(probe.PeriodSeconds, path.Child("periodSeconds")),
		validateNonNegative(probe.SuccessThreshold, path.Child("successThreshold")),
		validateNonNegative(probe.FailureThreshold, path.Child("failureThreshold")),
	)
}
