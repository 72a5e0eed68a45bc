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
	// trafficPeriod is how often each user sends a request, and creationPeriod how often one that creates a box, which the
	// cluster has more to do with.
	trafficPeriod  = 5 * time.Millisecond
	creationPeriod = 100 * time.Millisecond
	// usersOfAKind is how many users send requests of a kind at the same time.
	usersOfAKind = 2
	// trafficWatches is how many users watch.
	trafficWatches = 3
	// longestRequest is more than any that is answered takes, which is a minute.
	longestRequest = 2 * time.Minute
)

// verbs are the kinds of requests.
var verbs = []string{"get", "list", "create", "patch", "apply", "watch"}

// traffic is what users send through the aggregation layer. No request is sent again by the client, unlike those of
// client-go and of kubectl that a server asks for with Retry-After.
type traffic struct {
	n      *framework.Namespace
	client rest.Interface

	// number makes every write a change.
	number atomic.Int64

	mu sync.Mutex
	// underWay is when the requests began that are not answered yet.
	underWay  map[*rest.Request]time.Time
	succeeded map[string]int
	failures  []failure
	// created are the names of boxes whose creation was answered, and written the versions that were.
	created []string
	written map[string]string
}

// failure is a request that was not answered with success.
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

// lostConnection tells whether kube-apiserver sent the request on a connection of HTTP/1.1 that a server had ended.
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

// send has all users send requests until ctx is done.
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

// manifestOf is a box without pods, which are not what the traffic is about.
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

// do sends a request and keeps what became of it. What ends because ctx is done is neither a success nor a failure.
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

// awaitEarlier returns when all requests are answered that had begun before that time.
func (tr *traffic) awaitEarlier(n *framework.Namespace, than time.Time) {
	n.T.Helper()
	framework.Eventually(n.T, longestRequest, "the requests before are answered", func() error {
		tr.mu.Lock()
		defer tr.mu.Unlock()
		for _, began := range tr.underWay {
			if began.Before(than) {
				return fmt.Errorf("one has waited for %s", time.Since(began))
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

// awaitAnswers returns when so many more requests of each kind have succeeded.
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
				continue // it goes on
			}
			if count := tr.succeeded[verb] - before[verb]; count < more {
				return fmt.Errorf("%d of %d requests to %s succeeded", count, more, verb)
			}
		}
		return nil
	})
}

// summary is how many requests of each kind failed of all since the former summary, how many watches could not be resumed
// without a list, and the failures.
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
