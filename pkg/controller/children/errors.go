// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package children

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/leaderelection"
)

// ErrOwnerChanged says that the owner in the cache is not the one that there is.
var ErrOwnerChanged = errors.New("has changed meanwhile")

// ErrBeingDeleted says that a child has to go before it can come back.
var ErrBeingDeleted = errors.New("it is being deleted and will be created again when it is gone")

// ErrChildGone says that the cache still has a child that no longer exists.
var ErrChildGone = errors.New("it has gone meanwhile")

// errChildChanged says that a child is not the one that the cache has.
var errChildChanged = errors.New("it has changed meanwhile")

func isNotOwned(err error) bool {
	var notOwned *apply.NotOwnedError
	return errors.As(err, &notOwned)
}

// ConflictError says that others insist on other values of fields of a child.
type ConflictError struct {
	// Noun is what the owner is called.
	Noun       string
	Kind, Name string
	// Fields are those that are left alone for a while; there is at least one.
	Fields []ContestedField
}

func (e *ConflictError) Error() string {
	byManager := map[string]*fieldpath.Set{}
	for _, field := range e.Fields {
		if byManager[field.Manager] == nil {
			byManager[field.Manager] = fieldpath.NewSet()
		}
		byManager[field.Manager].Insert(field.Path)
	}
	var insists []string
	for _, manager := range slices.Sorted(maps.Keys(byManager)) {
		insists = append(insists, fmt.Sprintf("%s keeps changing %s", nameOfManager(manager), fields.Names(byManager[manager])))
	}
	return fmt.Sprintf("%s %s: %s; back-off restoring what the %s asks for",
		e.Kind, e.Name, strings.Join(insists, ", "), e.Noun)
}

// RetryAfter is how soon the first of the fields is to be taken back again.
func (e *ConflictError) RetryAfter() time.Duration {
	var soonest time.Duration
	for i, field := range e.Fields {
		if i == 0 || field.Pause < soonest {
			soonest = field.Pause
		}
	}
	return soonest
}

// RejectedError says that the cluster takes a child only without some of what the owner asks for.
type RejectedError struct {
	// Noun is what the owner is called.
	Noun       string
	Kind, Name string
	// Fields names them.
	Fields string
}

func (e *RejectedError) Error() string {
	return fmt.Sprintf("%s %s: the cluster does not accept what the %s asks for in %s: its version does not know it, a feature gate is disabled, or an admission policy changes it",
		e.Kind, e.Name, e.Noun, e.Fields)
}

// BackoffError says that the cluster has refused what it is not asked for again at once.
type BackoffError struct {
	Err error
	// RetryAfter is after how long it is.
	RetryAfter time.Duration
}

func (e *BackoffError) Error() string { return e.Err.Error() }

// Unwrap returns the refusal.
func (e *BackoffError) Unwrap() error { return e.Err }

// NotServedError says that the cluster does not serve the kind of a child.
type NotServedError struct {
	GroupVersionKind schema.GroupVersionKind
}

func (e *NotServedError) Error() string {
	return fmt.Sprintf("the cluster does not serve %s of %s", e.GroupVersionKind.Kind, e.GroupVersionKind.GroupVersion())
}

// IsQuotaExceeded returns whether the admission plugin ResourceQuota has refused the request.
func IsQuotaExceeded(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota")
}

// isPartial returns whether the child that failed is there and the owner's, and as rendered but for some of its fields.
func isPartial(err error) bool {
	var conflict *ConflictError
	var rejected *RejectedError
	return errors.As(err, &conflict) || errors.As(err, &rejected)
}

// RecheckPeriod is after how long an owner is requeued for a change that may come without an event, such as a change of an object
// that has the name of a child and does not belong to the owner.
const RecheckPeriod = 15 * time.Second

// Failure says what an error means for the owner whose child it is about.
type Failure struct {
	// Reason is the reason of the condition Applied.
	Reason string
	// IsStale says that a step was not executed because a cache was behind. The next try will see the current objects.
	IsStale bool
	// IsExpected says that the status reports the error, or that the next try settles it, so that no operator has to know of it.
	IsExpected bool
	// NeedsRetry says that it is to be tried again as soon as its backoff allows.
	NeedsRetry bool
	// RetryAfter is after how long to requeue the owner where it does not, 0 for not at all.
	RetryAfter time.Duration
}

// Classify says what an error means. Of several errors that are joined it is about one.
func Classify(err error) Failure {
	var notOwned *apply.NotOwnedError
	var conflict *ConflictError
	var rejected *RejectedError
	var immutable *apply.ImmutableError
	var notServed *NotServedError
	var backoff *BackoffError
	switch {
	case errors.As(err, &backoff):
		return Failure{Reason: Classify(backoff.Err).Reason, IsExpected: true, RetryAfter: backoff.RetryAfter}
	case errors.As(err, &notOwned):
		return Failure{Reason: modelv1.ReasonNotOwned, IsExpected: true, RetryAfter: RecheckPeriod}
	case errors.As(err, &conflict):
		return Failure{Reason: modelv1.ReasonConflict, IsExpected: true, RetryAfter: conflict.RetryAfter()}
	case errors.As(err, &rejected):
		return Failure{Reason: modelv1.ReasonRejected, IsExpected: true}
	case errors.As(err, &immutable):
		return Failure{Reason: modelv1.ReasonInvalid, IsExpected: true}
	case errors.As(err, &notServed):
		return Failure{Reason: modelv1.ReasonNotServed, IsExpected: true, RetryAfter: RecheckPeriod}
	case errors.Is(err, ErrBeingDeleted):
		return Failure{Reason: modelv1.ReasonChildBeingDeleted, IsExpected: true, NeedsRetry: true}
	case apierrors.IsForbidden(err):
		reason := modelv1.ReasonForbidden
		if IsQuotaExceeded(err) {
			reason = modelv1.ReasonQuotaExceeded
		}
		return Failure{Reason: reason, IsExpected: apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause), NeedsRetry: true}
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return Failure{Reason: modelv1.ReasonInvalid, NeedsRetry: true}
	case apierrors.IsConflict(err), errors.Is(err, ErrOwnerChanged), errors.Is(err, ErrChildGone), errors.Is(err, errChildChanged):
		return Failure{Reason: modelv1.ReasonError, IsStale: true, IsExpected: true, NeedsRetry: true}
	default:
		return Failure{Reason: modelv1.ReasonError, IsExpected: errors.Is(err, leaderelection.ErrNotLeading), NeedsRetry: true}
	}
}

// IsExpected returns the IsExpected of the Failure of an error. Of several errors that are joined, all have to be expected.
func IsExpected(err error) bool {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		return !slices.ContainsFunc(joined.Unwrap(), func(err error) bool { return !IsExpected(err) })
	}
	return Classify(err).IsExpected
}

// RetryAfter returns after how long to requeue an owner whose failures these are, 0 for not at all. It is false when one of
// them is to be tried again as soon as its backoff allows.
func RetryAfter(failures []error) (time.Duration, bool) {
	var soonest time.Duration
	for _, err := range failures {
		failure := Classify(err)
		if failure.NeedsRetry {
			return 0, false
		}
		if failure.RetryAfter > 0 && (soonest == 0 || failure.RetryAfter < soonest) {
			soonest = failure.RetryAfter
		}
	}
	return soonest, true
}
