// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
)

// readStatus returns the HTTP status in a file, and 200 without a file.
func readStatus(path string) (int, error) {
	if path == "" {
		return http.StatusOK, nil
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return 0, fmt.Errorf("reading the status: %w", err)
	}
	status, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil || http.StatusText(status) == "" {
		return 0, fmt.Errorf("%s: %q is not an HTTP status", path, content)
	}
	return status, nil
}

// answerVersion returns the version with the status that the application was started with.
func (a *application) answerVersion(w http.ResponseWriter, _ *http.Request) {
	a.answers.Add(1)
	w.WriteHeader(a.status)
	fmt.Fprint(w, a.version)
}

// metrics returns the number of responses of answerVersion in the text format of Prometheus.
func (a *application) metrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	fmt.Fprintf(w, "# TYPE http_requests_total counter\nhttp_requests_total{code=\"%d\"} %d\n", a.status, a.answers.Load())
}
