// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"errors"
	"time"

	"k8s.io/apiserver/pkg/admission"
	api "k8s.io/kubernetes/pkg/apis/core"
)

// Quota is an admission plugin that rejects all new pods until a time, as a ResourceQuota does that is exceeded.
type Quota struct {
	exceededUntil time.Time
}

var _ admission.ValidationInterface = &Quota{}

// Exceed makes the quota exceeded until then.
func (q *Quota) Exceed(until time.Time) { q.exceededUntil = until }

// Handles implements admission.Interface.
func (q *Quota) Handles(operation admission.Operation) bool { return operation == admission.Create }

// Validate implements admission.ValidationInterface.
func (q *Quota) Validate(_ context.Context, attributes admission.Attributes, _ admission.ObjectInterfaces) error {
	isPod := attributes.GetResource().GroupResource() == api.Resource("pods") && attributes.GetSubresource() == ""
	if isPod && time.Now().Before(q.exceededUntil) {
		return admission.NewForbidden(attributes, errors.New("exceeded quota: pods, requested: pods=1, used: pods=1, limited: pods=1"))
	}
	return nil
}
