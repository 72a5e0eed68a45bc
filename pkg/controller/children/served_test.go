// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package children

import (
	"errors"
	"testing"
)

// A kind that the cluster does not serve is no matter for owners that do not ask for a child of it.
func TestReconcileOfAKindThatIsNotServed(t *testing.T) {
	f := newTestEngine(t, newSettings())
	isServed := false
	f.Kinds[0].IsServed = func() bool { return isServed }

	result, err := f.Reconcile(t.Context(), f.settings)
	if err != nil {
		t.Fatal(err)
	}
	var notServed *NotServedError
	if !errors.As(result.Err(), &notServed) || len(f.cluster.Actions()) > 0 {
		t.Errorf("got %v after %v, want an error that says so, and no request", result.Err(), f.cluster.Actions())
	}
	if got, want := result.Err().Error(), "the cluster does not serve Secret of v1"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if after, ok := RetryAfter(result.Failures); !ok || after != RecheckPeriod {
		t.Errorf("it is tried again after %v, want %v", after, RecheckPeriod)
	}

	without := f.settings.DeepCopy()
	without.Data = nil
	if result, err := f.Reconcile(t.Context(), without); err != nil || result.Err() != nil {
		t.Errorf("an owner that asks for none fails: %v, %v", err, result.Err())
	}

	isServed = true
	if result, err := f.Reconcile(t.Context(), f.settings); err != nil || result.Err() != nil || len(result.owned) != 1 {
		t.Errorf("once the kind is served, got %v, %v and the children %v", err, result.Err(), result.owned)
	}
}
