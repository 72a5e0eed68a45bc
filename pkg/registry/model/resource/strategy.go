// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package resource has what the resources of the group share: the common part of their strategies, and the stores of the main
// resource and of its status.
package resource

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage/names"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/printers"
)

// Strategy is the part of a strategy that is the same for every kind.
type Strategy struct {
	runtime.ObjectTyper
	names.NameGenerator
}

// NewStrategy returns a strategy. typer has to know the internal types.
func NewStrategy(typer runtime.ObjectTyper) Strategy {
	return Strategy{typer, names.SimpleNameGenerator}
}

// NamespaceScoped returns true: every object lives in a namespace.
func (Strategy) NamespaceScoped() bool { return true }

// Canonicalize does not change the object.
func (Strategy) Canonicalize(runtime.Object) {}

// AllowCreateOnUpdate returns false: a PUT does not create an object.
func (Strategy) AllowCreateOnUpdate(context.Context) bool { return false }

// AllowUnconditionalUpdate returns true: a PUT without a resourceVersion replaces the object, as it does for a Deployment.
func (Strategy) AllowUnconditionalUpdate(context.Context) bool { return true }

// GetResetFields returns the fields that users cannot set through the main resource: the status.
func (Strategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return ResetFields(fieldpath.MakePathOrDie("status"))
}

// ResetFields returns the fields at the paths of an object in the served version.
func ResetFields(paths ...fieldpath.Path) map[fieldpath.APIVersion]*fieldpath.Set {
	return map[fieldpath.APIVersion]*fieldpath.Set{
		fieldpath.APIVersion(modelv1.SchemeGroupVersion.String()): fieldpath.NewSet(paths...),
	}
}

// PendingConditions returns the conditions of a new object. noun is its kind in messages, such as "box". Without the conditions, a
// client that waits for the object could take an object without a status for one that has nothing to report.
func PendingConditions(noun string) []metav1.Condition {
	return []metav1.Condition{{
		Type:               modelv1.ConditionReady,
		Status:             metav1.ConditionUnknown,
		Reason:             modelv1.ReasonPending,
		Message:            printers.NotSeen(noun),
		LastTransitionTime: metav1.Now(),
	}}
}
