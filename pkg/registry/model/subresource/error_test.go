// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package subresource

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
)

func TestWithContext(t *testing.T) {
	missing := apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, "web-1")
	for _, tc := range []struct {
		name        string
		err         error
		wantCode    int32
		wantReason  metav1.StatusReason
		wantMessage string
	}{
		{"an error of the API", missing, http.StatusNotFound, metav1.StatusReasonNotFound, `reading the log: pods "web-1" not found`},
		{"a wrapped error of the API", fmt.Errorf("asking: %w", missing), http.StatusNotFound, metav1.StatusReasonNotFound, `reading the log: pods "web-1" not found`},
		{"another error", errors.New("connection refused"), http.StatusInternalServerError, metav1.StatusReasonUnknown, "reading the log: connection refused"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := WithContext("reading the log", tc.err)
			status := responsewriters.ErrorToAPIStatus(err)
			if status.Code != tc.wantCode || status.Reason != tc.wantReason || err.Error() != tc.wantMessage {
				t.Errorf("got %d %s %q, want %d %s %q", status.Code, status.Reason, err, tc.wantCode, tc.wantReason, tc.wantMessage)
			}
		})
	}
	if want := `pods "web-1" not found`; missing.Error() != want {
		t.Errorf("the error itself became %q", missing)
	}
}
