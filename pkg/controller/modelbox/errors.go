// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/leaderelection"
)

// errBeingDeleted says that a child has to go before it can come back.
var errBeingDeleted = errors.New("it is being deleted and will be created again when it is gone")

// errChildGone says that the cache still has a child that there is no more.
var errChildGone = errors.New("it has gone meanwhile")

// notOwnedError says that the name of a child belongs to somebody else's object.
type notOwnedError struct {
	kind, name string
	// remedy is what can be done about it.
	remedy string
}

func (e *notOwnedError) Error() string {
	return fmt.Sprintf("a %s named %s exists already and does not belong to this box: %s", e.kind, e.name, e.remedy)
}

func isNotOwned(err error) bool {
	var foreign *notOwnedError
	return errors.As(err, &foreign)
}

// errChildChanged says that a child is not the one that the cache has.
var errChildChanged = errors.New("it has changed meanwhile")

// conflictError says that others insist on other values of fields of a child.
type conflictError struct {
	kind, name string
	// fields are those that are left alone for a while; there is at least one.
	fields []contestedField
}

func (e *conflictError) Error() string {
	byManager := map[string]*fieldpath.Set{}
	for _, field := range e.fields {
		if byManager[field.manager] == nil {
			byManager[field.manager] = fieldpath.NewSet()
		}
		byManager[field.manager].Insert(field.path)
	}
	var insists []string
	for _, manager := range slices.Sorted(maps.Keys(byManager)) {
		insists = append(insists, fmt.Sprintf("%s keeps changing %s", nameOfManager(manager), leaves(byManager[manager])))
	}
	return fmt.Sprintf("%s %s: %s; what the box says is put back less and less often until that stops",
		e.kind, e.name, strings.Join(insists, ", "))
}

// pause is how soon the first of the fields is to be taken back again.
func (e *conflictError) pause() time.Duration {
	var pauses []time.Duration
	for _, field := range e.fields {
		pauses = append(pauses, field.pause)
	}
	return soonest(pauses...)
}

// rejectedError says that the cluster takes a child only without some of what the box says.
type rejectedError struct {
	kind, name string
	fields     string
}

func (e *rejectedError) Error() string {
	return fmt.Sprintf("%s %s: this cluster does not take what the box says about %s: the field belongs to a feature that is off, or a policy changes it",
		e.kind, e.name, e.fields)
}

// lookAgain returns when to look at the box again whose failures are these. It is false when one of them is to be
// tried again as soon as its backoff allows.
func lookAgain(failures []error) (time.Duration, bool) {
	var delays []time.Duration
	for _, err := range failures {
		var foreign *notOwnedError
		var conflict *conflictError
		var rejected *rejectedError
		switch {
		case errors.As(err, &foreign):
			delays = append(delays, recheckPeriod)
		case errors.As(err, &conflict):
			delays = append(delays, conflict.pause())
		case errors.As(err, &rejected):
		default:
			return 0, false
		}
	}
	return soonest(delays...), true
}

// reasonOf is the reason of the Applied condition for what went wrong with a child.
func reasonOf(err error) string {
	var foreign *notOwnedError
	var conflict *conflictError
	var rejected *rejectedError
	switch {
	case errors.As(err, &foreign):
		return modelv1.ReasonNotOwned
	case errors.As(err, &conflict):
		return modelv1.ReasonConflict
	case errors.As(err, &rejected):
		return modelv1.ReasonRejected
	case errors.Is(err, errBeingDeleted):
		return modelv1.ReasonChildBeingDeleted
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota"):
		return modelv1.ReasonQuotaExceeded
	case apierrors.IsForbidden(err):
		return modelv1.ReasonForbidden
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return modelv1.ReasonInvalid
	default:
		return modelv1.ReasonError
	}
}

// isOfThePast returns whether something was not done because the cache was behind.
func isOfThePast(err error) bool {
	return apierrors.IsConflict(err) || errors.Is(err, errBoxChanged) || errors.Is(err, errChildGone) || errors.Is(err, errChildChanged)
}

// isExpected tells what the status says, or the next try settles, from what an operator has to read about. Of
// several errors all have to be expected.
func isExpected(err error) bool {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		for _, one := range joined.Unwrap() {
			if !isExpected(one) {
				return false
			}
		}
		return true
	}
	var foreign *notOwnedError
	var conflict *conflictError
	var rejected *rejectedError
	return errors.As(err, &foreign) || errors.As(err, &conflict) || errors.As(err, &rejected) || errors.Is(err, errBeingDeleted) || isOfThePast(err) ||
		errors.Is(err, leaderelection.ErrNotLeading) ||
		apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}
