// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package universe

import (
	"bytes"
	"net/http"
	"strings"
	"time"

	api "k8s.io/kubernetes/pkg/apis/core"

	"github.com/sharelinuxs/modelbox-apiserver/hack/universe/store"
	"github.com/sharelinuxs/modelbox-apiserver/hack/universe/transport"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// address is where a client writes.
type address struct{ client, method, uri string }

// lastWrite is a write that was answered.
type lastWrite struct {
	at   time.Time
	body []byte
	// change is what it changed.
	change store.Change
}

// begin notes which request is handled.
func (c *checks) begin(request *transport.Request) {
	c.writer, c.written = request.Client, nil
}

// cacheLag is the time for which the controllers of ModelBox wait until their caches show what they have written.
const cacheLag = time.Minute

// end checks that an answered write does not repeat the last write of the same object, if the object has not changed since. Deletions
// are repeated until the cache shows them.
func (c *checks) end(request *transport.Request, outcome transport.Outcome) {
	isController := c.isController()
	c.writer = ""
	if outcome == transport.Unanswered && request.Method == http.MethodDelete {
		c.waiveDeletedPods()
	}
	if !isController || !request.IsWrite() || strings.Contains(request.URI, "/leases") || outcome == transport.Refused {
		return
	}
	key := address{request.Client, request.Method, request.URI}
	last, isKnown := c.lastWrites[key]
	delete(c.lastWrites, key)
	switch {
	case outcome != transport.Answered || request.Code >= http.StatusBadRequest || request.Method == http.MethodDelete:
	case len(c.written) > 0:
		c.lastWrites[key] = lastWrite{time.Now(), request.Body, c.written[0]}
	default:
		c.world.stats.WritesWithoutEffect++
		if isKnown && time.Since(last.at) < cacheLag && bytes.Equal(last.body, request.Body) && c.lastChanges[last.change.Key] == last.change.Revision {
			c.violate("no write is repeated", "%s", request)
		}
	}
}

// waiveDeletedPods drops the capacity of boxes whose pods were deleted without an answer. The ReplicaSet controller then deletes another pod,
// if its cache still has the deleted one.
func (c *checks) waiveDeletedPods() {
	for _, change := range c.written {
		if pod, isPod := change.Before.(*api.Pod); isPod {
			c.waiveCapacity(pod.Labels[modelv1.SelectorLabel])
		}
	}
}
