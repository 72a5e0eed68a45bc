// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/utils/ptr"
)

// leaseName is the name of the Lease of the controllers, in the namespace of the server.
const leaseName = "modelbox-controller"

// checkLease says which server's controllers work.
func (o *Options) checkLease(ctx context.Context) findings {
	const check = "Controllers"
	if o.apiService == nil {
		return nil
	}
	lease, err := o.client.CoordinationV1().Leases(o.apiService.Spec.Service.Namespace).Get(ctx, leaseName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return findings{failed(check, "Lease %s not found: no server has ever been the leader", leaseName)}
	case err != nil:
		return findings{unanswered(check, err)}
	}
	holder, renewed := ptr.Deref(lease.Spec.HolderIdentity, ""), lease.Spec.RenewTime
	if holder == "" || renewed == nil {
		return findings{failed(check, "Lease %s has no holder", leaseName)}
	}
	age := o.clock.Now().Sub(renewed.Time)
	if age > time.Duration(ptr.Deref(lease.Spec.LeaseDurationSeconds, 0))*time.Second {
		return findings{failed(check, "%s stopped renewing Lease %s %s ago, and no other server has acquired it", holder, leaseName, duration.HumanDuration(age))}
	}
	return findings{fine(check, "leader %s for %s", holder, duration.HumanDuration(o.clock.Now().Sub(ptr.Deref(lease.Spec.AcquireTime, *renewed).Time)))}
}
