// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package filters

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestReadyzTellsOfAShortage(t *testing.T) {
	full := errors.New("the disk is full")
	for _, row := range []struct {
		name, url string
		status    int
		shortage  error
		want      string
	}{
		{"verbose", "/readyz?verbose", http.StatusOK, full, "ok\nwarn: boxes may not grow: the disk is full\n"},
		{"there is room", "/readyz?verbose", http.StatusOK, nil, "ok\n"},
		{"not verbose", "/readyz", http.StatusOK, full, "ok\n"},
		{"another health check", "/livez?verbose", http.StatusOK, full, "ok\n"},
		{"who may not ask", "/readyz?verbose", http.StatusForbidden, full, "ok\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			handler := withShortage(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(row.status)
				fmt.Fprintln(w, "ok")
			}), func() error { return row.shortage })
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, row.url, nil))
			if w.Code != row.status || w.Body.String() != row.want {
				t.Errorf("got %d %q, want %d %q", w.Code, w.Body, row.status, row.want)
			}
		})
	}
}
