// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// clientOf returns a client of a server that answers with the handler.
func clientOf(t *testing.T, handler http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	client, err := NewClient(Config{URL: server.URL + "/prefix/"})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestQuery(t *testing.T) {
	success := `{"status":"success","data":{"resultType":%q,"result":%s}}`
	for _, row := range []struct {
		name   string
		status int
		body   string
		want   []float64
		err    string
	}{
		{"a scalar", 200, fmt.Sprintf(success, "scalar", `[1767323045.1,"0.5"]`), []float64{0.5}, ""},
		{"a series", 200, fmt.Sprintf(success, "vector", `[{"metric":{"pod":"a"},"value":[1767323045,"-2"]}]`), []float64{-2}, ""},
		{"several series", 200, fmt.Sprintf(success, "vector", `[{"metric":{},"value":[1,"1"]},{"metric":{},"value":[1,"2"]}]`), []float64{1, 2}, ""},
		{"no series", 200, fmt.Sprintf(success, "vector", `[]`), nil, ""},
		{"not a number", 200, fmt.Sprintf(success, "vector", `[{"metric":{},"value":[1,"NaN"]}]`), []float64{math.NaN()}, ""},
		{"infinity", 200, fmt.Sprintf(success, "scalar", `[1,"+Inf"]`), []float64{math.Inf(1)}, ""},
		{"a histogram", 200, fmt.Sprintf(success, "vector", `[{"metric":{},"histogram":[1,{"count":"1"}]}]`), nil, "its answer is not the answer of a Prometheus"},
		{"a matrix", 200, fmt.Sprintf(success, "matrix", `[]`), nil, "its answer is not the answer of a Prometheus"},
		{"a value without quotes", 200, fmt.Sprintf(success, "scalar", `[1,1]`), nil, "its answer is not the answer of a Prometheus"},
		{"an error with status 200", 200, `{"status":"error","error":"secret"}`, nil, "its answer is not the answer of a Prometheus"},
		{"a page", 200, `<html>login</html>`, nil, "its answer is not the answer of a Prometheus"},
		{"a query that is refused", 422, `{"status":"error","errorType":"execution","error":"too many samples"}`, nil, "it answers with status 422: too many samples"},
		{"a long error", 400, `{"status":"error","error":"` + strings.Repeat("é", 1000) + `"}`, nil, "it answers with status 400: " + strings.Repeat("é", maxErrorBytes/2)},
		{"a proxy that refuses", 403, `user "system:serviceaccount:secret" is forbidden`, nil, "it answers with status 403"},
		{"an error of the server", 500, `{"status":"error","error":"10.0.0.1 refused"}`, nil, "it answers with status 500"},
		{"a redirect", 302, ``, nil, "it answers with status 302"},
		{"a huge answer", 200, fmt.Sprintf(success, "scalar", `[1,"`+strings.Repeat("1", maxAnswerBytes)+`"]`), nil, "its answer is larger than 1048576 bytes"},
	} {
		t.Run(row.name, func(t *testing.T) {
			client := clientOf(t, func(w http.ResponseWriter, req *http.Request) {
				if req.URL.Path != "/prefix/api/v1/query" || req.FormValue("query") != `up{a="&b"}` || req.FormValue("timeout") != "10s" {
					t.Errorf("got %s with %v", req.URL, req.Form)
				}
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(row.status)
				fmt.Fprint(w, row.body)
			})
			got, err := client.Query(t.Context(), `up{a="&b"}`)
			if diff := cmp.Diff(row.want, got, cmpopts.EquateNaNs(), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if message := messageOf(err); message != row.err {
				t.Errorf("got %q, want %q", message, row.err)
			}
			var refusal *Error
			isRefused := errors.As(err, &refusal) && refusal.IsQueryRefused
			if want := row.status == http.StatusBadRequest || row.status == http.StatusUnprocessableEntity; isRefused != want {
				t.Errorf("the query is refused: %t, want %t", isRefused, want)
			}
		})
	}
}

func messageOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestErrorsOfTheNetworkDoNotNameTheHost(t *testing.T) {
	client := clientOf(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	if _, err := client.Query(t.Context(), "up"); messageOf(err) != "the connection failed" {
		t.Errorf("got %v", err)
	}
}

func TestASlowAnswerIsGivenUp(t *testing.T) {
	client := clientOf(t, func(_ http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body) // The server sees the end of a connection only once it has read the request.
		<-req.Context().Done()
	})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond) // shorter than the timeout of the client
	defer cancel()
	if _, err := client.Query(ctx, "up"); messageOf(err) != "no answer within 10s" {
		t.Errorf("got %v", err)
	}
}

func TestTokenAndCA(t *testing.T) {
	var sent string
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		sent = req.Header.Get("Authorization")
		fmt.Fprint(w, `{"status":"success","data":{"resultType":"vector","result":[]}}`)
	}))
	t.Cleanup(server.Close)
	write := func(name string, data []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	client, err := NewClient(Config{URL: server.URL, CAFile: write("ca.crt", ca), TokenFile: write("token", []byte("secret\n"))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Query(t.Context(), "up"); err != nil {
		t.Fatal(err)
	}
	if sent != "Bearer secret" {
		t.Errorf("got %q", sent)
	}
	untrusting, err := NewClient(Config{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := untrusting.Query(t.Context(), "up"); messageOf(err) != "the connection failed" {
		t.Errorf("got %v from a server whose certificate is not trusted", err)
	}
	for _, config := range []Config{{URL: server.URL, CAFile: "/missing"}, {URL: "http://["}} {
		if _, err := NewClient(config); err == nil {
			t.Errorf("%+v is accepted", config)
		}
	}
}
