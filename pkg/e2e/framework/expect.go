// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// ExpectEqual fails the test, without ending it, if there is a difference.
func ExpectEqual(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// ExpectInvalid checks that err has the reason Invalid and names the field.
func ExpectInvalid(t *testing.T, err error, field string) {
	t.Helper()
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Code != 422 {
		t.Fatalf("want it refused as invalid, got %v", err)
	}
	var fields []string
	for _, cause := range status.Status().Details.Causes {
		if cause.Field == field {
			return
		}
		fields = append(fields, fmt.Sprintf("%s: %s", cause.Field, cause.Message))
	}
	t.Errorf("the refusal does not name %s, but:\n%s", field, strings.Join(fields, "\n"))
}

// CheckGone returns nil if err is NotFound.
func CheckGone(err error) error {
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err == nil:
		return errors.New("it is there")
	default:
		return err
	}
}

// ContainsAll returns whether the text has all of the words.
func ContainsAll(text string, words []string) bool {
	for _, word := range words {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}
