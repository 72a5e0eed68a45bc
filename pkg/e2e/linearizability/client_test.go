// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package linearizability

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

const (
	// requestTimeout is shorter than some of the times for which servers are frozen, so that a server may serve a request after its
	// client has timed out.
	requestTimeout = 2 * time.Second
	// maxPause is the longest pause between two requests of a client.
	maxPause = 10 * time.Millisecond
	// unservedPause is the pause after a request that no server has served.
	unservedPause = 100 * time.Millisecond
)

// client sends one request after the other.
type client struct {
	t         *testing.T
	number    int
	server    rest.Interface
	namespace string
	recorder  *recorder
	random    *rand.Rand
	// known has the last observed state of each object.
	known map[Key]Object
	wrote int
}

// keys are the objects that clients compete for.
var keys = []Key{{boxes, "a"}, {boxes, "b"}, {boxes, "c"}, {stacks, "a"}, {stacks, "b"}}

// run sends requests until ctx is done.
func (c *client) run(ctx context.Context) {
	for ctx.Err() == nil {
		pause := time.Duration(c.random.Int64N(int64(maxPause)))
		if isServed := c.ask(); !isServed {
			pause = unservedPause
		}
		time.Sleep(pause)
	}
}

// ask sends a random request, and returns whether it was served.
func (c *client) ask() bool {
	key := keys[c.random.IntN(len(keys))]
	if c.random.IntN(20) == 0 {
		_, err := c.list(key.Resource)
		return err == nil
	}
	request := Request{Key: key}
	switch dice := c.random.IntN(100); {
	case dice < 35:
		request.Verb = Get
	case dice < 55:
		request.Verb = Update
		c.demand(&request)
	case dice < 70:
		request.Verb = Patch
	case dice < 85:
		request.Verb = Apply
	case dice < 94:
		request.Verb = Create
	default:
		request.Verb = Delete
		c.demand(&request)
	}
	isServed := c.do(request)
	if isServed && c.random.IntN(2) == 0 {
		return c.do(Request{Verb: Get, Key: key}) // immediately, because a cache is only stale for some milliseconds
	}
	return isServed
}

// demand adds a random precondition, or none.
func (c *client) demand(request *Request) {
	switch known := c.known[request.Key]; c.random.IntN(4) {
	case 0:
	case 1:
		request.UID = known.UID
	default:
		request.Revision = known.Revision
	}
}

// do sends a request and records the response. It returns whether the request was served.
func (c *client) do(request Request) bool {
	c.wrote++
	written := fmt.Sprintf("%d-%d", c.number, c.wrote)
	switch request.Verb {
	case Create, Update:
		request.Spec, request.Note = written, written
	case Apply:
		request.Spec = written
	case Patch:
		request.Note = written
	default:
	}
	call := c.recorder.now()
	data, err := c.send(request)
	returned := c.recorder.now()

	outcome := outcomeOf(request, err)
	if outcome == invalid {
		c.t.Errorf("client %d: %s %s: %v", c.number, request.Verb, request.Key, err)
	}
	if outcome == invalid || outcome == unserved || outcome == Unknown && request.Verb == Get {
		return false
	}
	response := Response{Outcome: outcome}
	if outcome == Done {
		if response.Object, err = parseAnswer(request, data); err != nil {
			c.t.Errorf("client %d: the answer to %s %s: %v", c.number, request.Verb, request.Key, err)
			return false
		}
		c.known[request.Key] = response.Object
	}
	c.recorder.record(func(h *History) {
		h.Operations = append(h.Operations, Operation{c.number, request, response, call, returned})
	})
	return outcome != Unknown
}

func parseAnswer(request Request, data []byte) (Object, error) {
	if request.Verb == Delete {
		return parseDeleted(data)
	}
	name, object, err := parse(data)
	if err == nil && name != request.Key.Name {
		err = fmt.Errorf("it is about %s", name)
	}
	return object, err
}

// send sends a request once, without retries.
func (c *client) send(request Request) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	path := c.path(request.Key.Resource)
	var body any = manifest(request)
	var of *rest.Request
	switch request.Verb {
	case Create:
		of = c.server.Post()
	case Update:
		of = c.server.Put()
	case Patch, Apply:
		of = c.server.Patch(patchTypes[request.Verb])
		if request.Verb == Apply {
			of = of.Param("fieldManager", "applier").Param("force", "true")
		}
	case Delete:
		of, body = c.server.Delete(), deleteOptions(request)
	default:
		of, body = c.server.Get(), nil
	}
	if request.Verb != Create {
		path += "/" + request.Key.Name
	}
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		of = of.Body(data)
		if patchTypes[request.Verb] == "" {
			of = of.SetHeader("Content-Type", "application/json")
		}
	}
	return answer(of.AbsPath(path).MaxRetries(0).Do(ctx))
}

// answer returns the body of a response, or its error.
func answer(result rest.Result) ([]byte, error) {
	if err := result.Error(); err != nil {
		return nil, err
	}
	return result.Raw()
}

func (c *client) path(resource string) string {
	return "/apis/" + modelv1.SchemeGroupVersion.String() + "/namespaces/" + c.namespace + "/" + resource
}

// list lists a resource and records the response.
func (c *client) list(resource string) (List, error) {
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	call := c.recorder.now()
	data, err := answer(c.server.Get().AbsPath(c.path(resource)).MaxRetries(0).Do(ctx))
	returned := c.recorder.now()
	if err != nil {
		return List{}, err
	}
	revision, objects, err := parseList(data)
	if err != nil {
		c.t.Errorf("client %d: the list of %s: %v", c.number, resource, err)
		return List{}, err
	}
	list := List{c.number, resource, revision, objects, call, returned}
	c.recorder.record(func(h *History) { h.Lists = append(h.Lists, list) })
	return list, nil
}

// The outcomes of requests that a history does not include.
const (
	// unserved is the outcome of a request that certainly had no effect.
	unserved Outcome = "unserved"
	// invalid is the outcome of an invalid request.
	invalid Outcome = "invalid"
)

// outcomeOf returns the outcome of a request.
func outcomeOf(request Request, err error) Outcome {
	var status apierrors.APIStatus
	switch {
	case err == nil:
		return Done
	case errors.Is(err, syscall.ECONNREFUSED), strings.Contains(err.Error(), "connect: connection refused"):
		return unserved
	case !errors.As(err, &status):
		return Unknown
	case apierrors.IsTooManyRequests(err), apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return unserved // a server that has just started cannot authorize requests yet
	case status.Status().Code == http.StatusInsufficientStorage:
		return unserved
	case apierrors.IsServiceUnavailable(err) && strings.Contains(err.Error(), "is starting and not ready yet"):
		return unserved
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return invalid
	}
	if details := status.Status().Details; details == nil || details.Name != request.Key.Name {
		return Unknown // the error is not about the object
	}
	switch status.Status().Reason {
	case metav1.StatusReasonNotFound:
		return NotFound
	case metav1.StatusReasonAlreadyExists:
		return AlreadyExists
	case metav1.StatusReasonConflict:
		return Conflict
	default:
		return Unknown
	}
}
