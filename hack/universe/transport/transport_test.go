// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

// send sends a request, and returns what becomes of it.
func send(client *Client, method, path string) <-chan string {
	result := make(chan string, 1)
	go func() {
		request, err := http.NewRequest(method, "http://universe"+path, strings.NewReader("body"))
		if err != nil {
			result <- err.Error()
			return
		}
		response, err := client.RoundTrip(request)
		if err != nil {
			result <- err.Error()
			return
		}
		body, err := io.ReadAll(response.Body)
		result <- fmt.Sprint(response.StatusCode, " ", string(body), err)
	}()
	return result
}

func TestOutcomes(t *testing.T) {
	for _, tc := range []struct {
		outcome Outcome
		handled []string
		want    string
	}{
		{Answered, []string{"POST /pods body"}, "201 created<nil>"},
		{Refused, nil, "connecting: connection refused"},
		{Unanswered, []string{"POST /pods body"}, "reading the response: unexpected EOF"},
	} {
		t.Run(tc.outcome.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var handled []string
				network := NewNetwork(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
					body, _ := io.ReadAll(req.Body)
					handled = append(handled, req.Method+" "+req.URL.Path+" "+string(body))
					w.WriteHeader(http.StatusCreated)
					_, _ = io.WriteString(w, "created")
				}))
				result := send(network.NewClient("a", true), http.MethodPost, "/pods")
				synctest.Wait()
				if len(handled) > 0 {
					t.Fatal("the request did not wait")
				}
				network.Let(network.Waiting()[0], tc.outcome)
				if diff := cmp.Diff(tc.want, <-result); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
				if diff := cmp.Diff(tc.handled, handled); diff != "" {
					t.Errorf("handled requests: -want +got:\n%s", diff)
				}
			})
		})
	}
}

func TestOrderOfWaitingRequestsDoesNotDependOnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := NewNetwork(http.NotFoundHandler())
		a, b := network.NewClient("a", true), network.NewClient("b", true)
		for _, send := range []func() <-chan string{
			func() <-chan string { return send(b, http.MethodGet, "/pods?timeoutSeconds=7") },
			func() <-chan string { return send(a, http.MethodPost, "/pods") },
			func() <-chan string { return send(a, http.MethodGet, "/services") },
			func() <-chan string { return send(a, http.MethodGet, "/pods") },
		} {
			send()
			synctest.Wait()
		}
		var got []string
		for _, request := range network.Waiting() {
			got = append(got, request.String())
			defer network.Let(request, Refused)
		}
		if diff := cmp.Diff([]string{"a GET /pods", "a GET /services", "a POST /pods", "b GET /pods"}, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

func TestKilledClientSendsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := NewNetwork(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request was handled") }))
		killed := network.NewClient("a", true)
		waiting := send(killed, http.MethodGet, "/pods")
		synctest.Wait()
		killed.Kill()
		for _, result := range []<-chan string{waiting, send(killed, http.MethodGet, "/pods")} {
			if diff := cmp.Diff("connecting: connection refused", <-result); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		}
	})
}

func TestWatchIsAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := make(chan string)
		network := NewNetwork(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			w.(http.Flusher).Flush()
			for {
				select {
				case event := <-events:
					_, _ = fmt.Fprintln(w, event)
				case <-req.Context().Done():
					return
				}
			}
		}))
		request, err := http.NewRequest(http.MethodGet, "http://universe/pods?watch=true", nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := network.NewClient("a", false).RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(response.Body)
		for _, want := range []string{"first", "second"} {
			events <- want
			if !lines.Scan() || lines.Text() != want {
				t.Errorf("got %q, want %q", lines.Text(), want)
			}
		}
		if err := response.Body.Close(); err != nil {
			t.Error(err)
		}
	})
}
