// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package filters

import (
	"fmt"
	"net/http"

	"github.com/felixge/httpsnoop"
)

// withShortage adds a line to /readyz?verbose while boxes may not grow. It is no check of its own: a server that is not ready cannot
// be read and deleted from. shortage is nil if nothing is known of the storage.
func withShortage(handler http.Handler, shortage func() error) http.Handler {
	if shortage == nil {
		return handler
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" || !r.URL.Query().Has("verbose") {
			handler.ServeHTTP(w, r)
			return
		}
		response := httpsnoop.CaptureMetrics(handler, w, r)
		if err := shortage(); err != nil && response.Code == http.StatusOK {
			fmt.Fprintf(w, "warn: boxes may not grow: %v\n", err)
		}
	})
}
