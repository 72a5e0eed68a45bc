// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
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
		errs = append(errs, field.Invalid(path.Child("terminationGracePeriodSeconds"), *seconds, "must be 1 or more"))
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
