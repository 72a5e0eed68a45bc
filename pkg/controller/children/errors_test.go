// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package children

import (
	"errors"
	"fmt"
	"net/url"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/leaderelection"
)

func TestClassify(t *testing.T) {
	deployments := schema.GroupResource{Group: "apps", Resource: "deployments"}
	terminating := apierrors.NewForbidden(deployments, "web", errors.New("the namespace is being terminated"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}

	for _, row := range []struct {
		name     string
		err      error
		reason   string
		expected bool
	}{
		{"an object that the owner does not own", &apply.NotOwnedError{Kind: "Service", Name: "web"}, modelv1.ReasonNotOwned, true},
		{"a kind that the cluster does not serve", &NotServedError{}, modelv1.ReasonNotServed, true},
		{"a child that is being deleted", ErrBeingDeleted, modelv1.ReasonChildBeingDeleted, true},
		{"a child that has gone", ErrChildGone, modelv1.ReasonError, true},
		{"a box that has changed", ErrOwnerChanged, modelv1.ReasonError, true},
		{"a quota", apierrors.NewForbidden(deployments, "web", errors.New("exceeded quota: small, requested: cpu=2, used: cpu=1, limited: cpu=2")),
			modelv1.ReasonQuotaExceeded, false},
		{"a missing right", apierrors.NewForbidden(deployments, "web", errors.New("cannot patch resource")), modelv1.ReasonForbidden, false},
		{"a namespace on its way out", terminating, modelv1.ReasonForbidden, true},
		{"an invalid child", apierrors.NewInvalid(schema.GroupKind{Group: "apps", Kind: "Deployment"}, "web", nil), modelv1.ReasonInvalid, false},
		{"a child that cannot be read", apierrors.NewBadRequest("unknown field"), modelv1.ReasonInvalid, false},
		{"a manager that keeps changing a field", &ConflictError{Kind: "Deployment", Name: "web"}, modelv1.ReasonConflict, true},
		{"an expected error beside one that is not", errors.Join(&apply.NotOwnedError{Kind: "Service", Name: "web"}, errors.New("etcd is gone")), modelv1.ReasonNotOwned, false},
		{"a server that is busy", apierrors.NewTooManyRequests("later", 1), modelv1.ReasonError, false},
		{"a server that fails", apierrors.NewInternalError(errors.New("etcd is gone")), modelv1.ReasonError, false},
		{"a lead that may be lost", &url.Error{Op: "Patch", Err: leaderelection.ErrNotLeading}, modelv1.ReasonError, true},
		{"a server that cannot be reached", errors.New("connection refused"), modelv1.ReasonError, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, err := range []error{row.err, fmt.Errorf("applying Deployment web: %w", row.err)} {
				if got := Classify(err).Reason; got != row.reason {
					t.Errorf("reason of %q: got %s, want %s", err, got, row.reason)
				}
				if got := IsExpected(err); got != row.expected {
					t.Errorf("%q is expected: got %v, want %v", err, got, row.expected)
				}
			}
		})
	}
}

func TestNotOwnedErrorNamesTheObject(t *testing.T) {
	for kind, want := range map[string]string{
		"Service": "a Service named web exists already and does not belong to this box: delete it",
		"Ingress": "an Ingress named web exists already and does not belong to this box: delete it",
	} {
		err := &apply.NotOwnedError{Noun: "box", Kind: kind, Name: "web", Remedy: "delete it"}
		if got := err.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
