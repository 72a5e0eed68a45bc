// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const (
	// trafficPeriod is the time between two requests of a user, and creationPeriod the time between two creations of boxes, which
	// cause more work in the cluster.
	trafficPeriod  = 5 * time.Millisecond
	creationPeriod = 100 * time.Millisecond
	// usersOfAKind is the number of users who concurrently send requests of one kind.
	usersOfAKind = 2
	// trafficWatches is the number of users who watch.
	trafficWatches = 3
	// longestRequest is longer than any request with a response takes, which is a minute.
	longestRequest = 2 * time.Minute
)

// verbs are the kinds of requests.
var verbs = []string{"get", "list", "create", "patch", "apply", "watch"}

// traffic has the requests of users through the aggregation layer. Unlike client-go and kubectl, its clients do not retry after
// Retry-After.
type traffic struct {
	n      *framework.Namespace
	client rest.Interface

	// number is different in each write, so that each write is a change.
	number atomic.Int64

	mu sync.Mutex
	// underWay has the start times of the requests without a response yet.
	underWay  map[*rest.Request]time.Time
	succeeded map[string]int
	failures  []failure
	// created has the names of boxes whose creation was acknowledged, and written the acknowledged versions.
	created []string
	written map[string]string
}

// failure is a failed request.
type failure struct {
	began, ended time.Time
	verb         string
	code         int32
	answer       string
}

func (f failure) String() string {
	const layout = "15:04:05.000"
	return fmt.Sprintf("%s to %s %s: %d %s", f.began.Format(layout), f.ended.Format(layout), f.verb, f.code, f.answer)
}

// lostConnection returns whether kube-apiserver sent the request on an HTTP/1.1 connection that a server had closed.
func (f failure) lostConnection() bool {
	const proxied = "error trying to reach service: "
	for _, reason := range []string{"EOF", "broken pipe", "connection reset by peer"} {
		if strings.Contains(f.answer, proxied) && strings.HasSuffix(f.answer, reason) {
			return true
		}
	}
	return false
}

// newTraffic creates the boxes that users read and change.
func newTraffic(n *framework.Namespace) *traffic {
	n.T.Helper()
	for user := range usersOfAKind {
		n.CreateBox(framework.NewBox(fmt.Sprintf("patched-%d", user), framework.WithReplicas(0)))
	}
	return &traffic{n: n, client: n.ControlPlane.ModelClient.ModelV1().RESTClient(), underWay: map[*rest.Request]time.Time{}, succeeded: map[string]int{}, written: map[string]string{}}
}

// send sends the requests of all users until ctx is done.
func (tr *traffic) send(ctx context.Context) {
	var sending sync.WaitGroup
	defer sending.Wait()
	repeat := func(period time.Duration, send func()) {
		sending.Go(func() {
			ticker := time.NewTicker(period)
			defer ticker.Stop()
			for ctx.Err() == nil {
				send()
				<-ticker.C
			}
		})
	}
	for user := range usersOfAKind {
		patched, applied := fmt.Sprintf("patched-%d", user), fmt.Sprintf("applied-%d", user)
		repeat(trafficPeriod, func() { tr.do(ctx, "get", tr.request(http.MethodGet, patched)) })
		repeat(trafficPeriod, func() { tr.do(ctx, "list", tr.request(http.MethodGet, "").Param("limit", "10")) })
		repeat(trafficPeriod, func() {
			tr.do(ctx, "patch", tr.request(http.MethodPatch, patched).SetHeader("Content-Type", string(types.MergePatchType)).
				Body(fmt.Appendf(nil, `{"spec":{"image":"nginx:%d"}}`, tr.number.Add(1))))
		})
		repeat(trafficPeriod, func() {
			tr.do(ctx, "apply", tr.request(http.MethodPatch, applied).SetHeader("Content-Type", string(types.ApplyPatchType)).
				Param("fieldManager", applied).Body(manifestOf(applied, tr.number.Add(1))))
		})
	}
	repeat(creationPeriod, func() {
		number := tr.number.Add(1)
		name := fmt.Sprintf("created-%d", number)
		if tr.do(ctx, "create", tr.request(http.MethodPost, "").Body(manifestOf(name, number))) {
			tr.mu.Lock()
			defer tr.mu.Unlock()
			tr.created = append(tr.created, name)
		}
	})
}

// manifestOf returns the manifest of a box without pods.
func manifestOf(name string, number int64) []byte {
	return fmt.Appendf(nil, `{"apiVersion":"model.github.com/v1","kind":"ModelBox","metadata":{"name":%q},"spec":{"image":"nginx:%d","replicas":0,"ports":[{"port":80}]}}`, name, number)
}

func (tr *traffic) request(verb, name string) *rest.Request {
	request := tr.client.Verb(verb).Namespace(tr.n.Name).Resource("modelboxes").SetHeader("Accept", runtime.ContentTypeJSON).MaxRetries(0)
	if name != "" {
		request = request.Name(name)
	}
	return request
}

// do sends a request and records its result. A request that ends because ctx is done is neither a success nor a failure.
func (tr *traffic) do(ctx context.Context, verb string, request *rest.Request) bool {
	ctx, cancel := context.WithTimeout(ctx, longestRequest)
	defer cancel()
	began := tr.begin(request)
	defer tr.end(request)
	result := request.Do(ctx)
	if errors.Is(ctx.Err(), context.Canceled) {
		return false
	}
	if err := result.Error(); err != nil {
		tr.fail(began, verb, err)
		return false
	}
	body, err := result.Raw()
	if err != nil {
		tr.fail(began, verb, err)
		return false
	}
	var object metav1.PartialObjectMetadata
	if err := json.Unmarshal(body, &object); err != nil {
		tr.fail(began, verb, fmt.Errorf("%w: %.100q", err, body))
		return false
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.succeeded[verb]++
	if verb != "get" && verb != "list" {
		tr.written[object.ResourceVersion] = object.Name
	}
	return true
}

func (tr *traffic) begin(request *rest.Request) time.Time {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	began := time.Now()
	tr.underWay[request] = began
	return began
}

func (tr *traffic) end(request *rest.Request) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	delete(tr.underWay, request)
}

// awaitEarlier waits until all requests that began before a time have ended.
func (tr *traffic) awaitEarlier(n *framework.Namespace, than time.Time) {
	n.T.Helper()
	framework.Eventually(n.T, longestRequest, "the requests before are answered", func() error {
		tr.mu.Lock()
		defer tr.mu.Unlock()
		for _, began := range tr.underWay {
			if began.Before(than) {
				return fmt.Errorf("a request has waited for %s", time.Since(began))
			}
		}
		return nil
	})
}

func (tr *traffic) fail(began time.Time, verb string, err error) {
	failed := failure{began: began, ended: time.Now(), verb: verb, answer: err.Error()}
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		failed.code = status.Status().Code
		for _, cause := range ptr.Deref(status.Status().Details, metav1.StatusDetails{}).Causes {
			failed.answer += ": " + cause.Message
		}
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.failures = append(tr.failures, failed)
}

func (tr *traffic) succeed(verb string) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.succeeded[verb]++
}

// awaitAnswers waits until a number of further requests of each kind has succeeded.
func (tr *traffic) awaitAnswers(n *framework.Namespace, more int) {
	n.T.Helper()
	tr.mu.Lock()
	before := maps.Clone(tr.succeeded)
	tr.mu.Unlock()
	n.Eventually("users are answered", func() error {
		tr.mu.Lock()
		defer tr.mu.Unlock()
		for _, verb := range verbs {
			if verb == "watch" {
				continue // the watch is still open
			}
			if count := tr.succeeded[verb] - before[verb]; count < more {
				return fmt.Errorf("%d of %d requests to %s succeeded", count, more, verb)
			}
		}
		return nil
	})
}

// summary returns the number of all and of failed requests of each kind since the former summary, the number of watches that had to
// list again, and the failures.
func (tr *traffic) summary() (counts string, relists int, failures []failure) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	failed := map[string]int{}
	for _, failure := range tr.failures {
		failed[failure.verb]++
	}
	var text []string
	for _, verb := range verbs {
		text = append(text, fmt.Sprintf("%s %d/%d", verb, failed[verb], failed[verb]+tr.succeeded[verb]))
	}
	relists, failures = tr.succeeded["relist"], tr.failures
	tr.succeeded, tr.failures = map[string]int{}, nil
	return strings.Join(text, ", "), relists, failures
}
