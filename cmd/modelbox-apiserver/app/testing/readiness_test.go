// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package testing

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"maps"
	"net/http"
	"testing"
)

// A client that may do nothing asks for readiness in a way that is refused. The connections of others must not end because of it.
func TestRefusedRequestsForReadinessEndNoConnections(t *testing.T) {
	server := StartTestServer(t)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(server.ClientConfig.CAData)
	// HTTP/1.1 only: an answer of HTTP/2 does not say that its connection ends.
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
	defer transport.CloseIdleConnections()
	request := func(t *testing.T, path string, header http.Header) *http.Response {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.ClientConfig.Host+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		maps.Copy(request.Header, header)
		response, err := transport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			t.Fatal(err)
		}
		if response.ProtoMajor != 1 {
			t.Fatalf("the server speaks %s", response.Proto)
		}
		return response
	}
	expectKeptConnection := func(t *testing.T) {
		t.Helper()
		response := request(t, "/version", http.Header{"Authorization": {"Bearer of-another"}})
		if response.StatusCode != http.StatusOK || response.Close {
			t.Errorf("another client gets %s, and its connection ends: %t", response.Status, response.Close)
		}
	}
	for _, row := range []struct {
		name, path string
		header     http.Header
		status     int
	}{
		{"an invalid token", "/readyz", http.Header{"Authorization": {"Bearer " + invalidToken}}, http.StatusUnauthorized},
		{"an invalid timeout", "/readyz?timeout=soon", nil, http.StatusBadRequest},
		{"a group without a user to impersonate", "/readyz", http.Header{"Impersonate-Group": {"anyone"}}, 0},
		{"a timeout that is over at once", "/readyz?timeout=1ns", nil, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			if response := request(t, "/readyz", nil); response.StatusCode != http.StatusOK {
				t.Fatalf("the server is not ready: %s", response.Status)
			}
			expectKeptConnection(t)
			if got := request(t, row.path, row.header); row.status != 0 && got.StatusCode != row.status {
				t.Errorf("got %s, want %d", got.Status, row.status)
			}
			expectKeptConnection(t)
		})
	}
}
