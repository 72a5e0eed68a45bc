// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package serviceingress

import (
	corev1 "k8s.io/api/core/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/message"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
)

// report records an event about a problem of the Service, unless that is the last one that was reported of it: a Service has
// no condition that would say so.
func (c *Controller) report(service *corev1.Service, p problem) {
	if c.isNewProblem(service, p) {
		c.Recorder.Eventf(service, nil, corev1.EventTypeWarning, p.reason, "Reconcile", "%s", message.Truncate(p.text))
	}
}

// reportFailure reports what keeps the Ingress of the Service from being as rendered, unless the next try may settle it.
func (c *Controller) reportFailure(service *corev1.Service, err error) {
	switch reason := children.Classify(err).Reason; reason {
	case modelv1.ReasonNotOwned, modelv1.ReasonConflict, modelv1.ReasonRejected,
		modelv1.ReasonForbidden, modelv1.ReasonQuotaExceeded, modelv1.ReasonInvalid:
		c.report(service, problem{reason, err.Error()})
	}
}

// recordPanic says in an event of the Service what happened.
func (c *Controller) recordPanic(service *corev1.Service, failure *reconciler.PanicError) {
	c.report(service, problem{modelv1.ReasonError, failure.Error()})
}
