// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const (
	// Half of the clients keep their connection, and half open a new connection for every request.
	trafficClients = 8
	// trafficPause is the time between two requests of a client.
	trafficPause = 20 * time.Millisecond

	// The responses of the application: the stable version, the newer version, and the newer version with status 500.
	stableAppVersion = "1"
	newAppVersion    = "2"
	badAnswer        = "2 with status 500"
)

// traffic has clients that continuously send requests to a box.
type traffic struct {
	stop    context.CancelFunc
	clients sync.WaitGroup

	mu       sync.Mutex
	answers  map[string]int
	failures []string
}

// startTraffic sends requests until the traffic or the test ends. It distributes the URLs over the clients, which use the
// transport.
func startTraffic(t *testing.T, transport *http.Transport, urls ...string) *traffic {
	ctx, cancel := context.WithCancel(t.Context())
	traffic := &traffic{stop: cancel, answers: map[string]int{}}
	for client := range trafficClients {
		own := transport.Clone()
		own.DisableKeepAlives = client%2 == 0
		url := urls[client/2%len(urls)]
		traffic.clients.Go(func() { traffic.ask(ctx, own, url) })
	}
	t.Cleanup(traffic.end)
	return traffic
}

func (t *traffic) ask(ctx context.Context, transport *http.Transport, url string) {
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: answerTimeout}
	for pause := time.NewTicker(trafficPause); ; {
		select {
		case <-ctx.Done():
			pause.Stop()
			return
		case <-pause.C:
		}
		// Do not use ctx, because every sent request must get a response.
		request, err := http.NewRequest(http.MethodGet, url, nil)
		if err != nil {
			panic(err) // the URL is invalid
		}
		began := time.Now()
		answer, err := framework.Answer(client, request)
		t.count(answer, err, began)
	}
}

func (t *traffic) count(answer string, err error, began time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if isBadAnswer(err) {
		t.answers[badAnswer]++
		return
	}
	if err != nil {
		t.failures = append(t.failures, fmt.Sprintf("%s, after %s: %v", began.Format("15:04:05.000"), time.Since(began), err))
		return
	}
	t.answers[answer]++
}

// isBadAnswer returns whether the error is a response of the newer version of the application itself, and not of what is on the way
// to it.
func isBadAnswer(err error) bool {
	var status *framework.StatusError
	return errors.As(err, &status) && status.Code == http.StatusInternalServerError && status.Body == newAppVersion
}

// requests returns the number of requests by response, and of those that failed.
func (t *traffic) requests() (answers map[string]int, failed int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.answers), len(t.failures)
}

// measure returns the number of the next requests by response, at least as many requests as wanted.
func (t *traffic) measure(n *framework.Namespace, wanted int) (answers map[string]int) {
	n.T.Helper()
	before, _ := t.requests()
	n.Eventually(fmt.Sprintf("%d requests have a response", wanted), func() error {
		answers, _ = t.requests()
		for answer, count := range before {
			answers[answer] -= count
		}
		if measured := sum(answers); measured < wanted {
			return fmt.Errorf("%d have one", measured)
		}
		return nil
	})
	return answers
}

func sum(answers map[string]int) int {
	total := 0
	for _, count := range answers {
		total += count
	}
	return total
}

// end stops the traffic, and waits until every request has a response or has failed.
func (t *traffic) end() {
	t.stop()
	t.clients.Wait()
}

// expectNoneLost ends the traffic, and checks that every request got one of these responses, and that each of them occurred.
func (t *traffic) expectNoneLost(n *framework.Namespace, answers ...string) {
	n.T.Helper()
	t.end()
	requests := len(t.failures) + sum(t.answers)
	n.T.Logf("%d requests, %d failed; by answer: %v", requests, len(t.failures), t.answers)
	if len(t.failures) > 0 {
		n.T.Errorf("%d of %d requests failed:\n%s", len(t.failures), requests, strings.Join(t.failures, "\n"))
	}
	framework.ExpectEqual(n.T, "answers", slices.Sorted(slices.Values(answers)), slices.Sorted(maps.Keys(t.answers)))
}
