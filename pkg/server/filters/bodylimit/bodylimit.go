// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package bodylimit bounds how much memory the bodies of requests take while they are read, decoded and worked on. A body
// that is within the limit of its bytes can take a thousand times as much once it is decoded, and so can many at a time.
package bodylimit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"golang.org/x/sync/semaphore"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/decodedsize"
)

const (
	// MaxDecodedBytes is how much memory the decoded body of a request may take, and the decoded bodies of all requests together.
	// It is more than the API accepts for any object: a stack of 512 KiB with elements of two bytes.
	MaxDecodedBytes = 128 << 20
	// maxEncodedBytes is how many bytes of larger bodies are kept at a time that are being read.
	maxEncodedBytes = 16 << 20

	// smallDecodedBytes and smallEncodedBytes are what every request may take: the limits of all together hold for larger
	// ones only, so that these cannot keep others from an ordinary box.
	smallDecodedBytes = 256 << 10
	smallEncodedBytes = 64 << 10

	// maxWait is how long a request waits for others to end.
	maxWait = 10 * time.Second
	// retryAfterSeconds is when a request is worth trying again that has waited so long.
	retryAfterSeconds = 1
)

// WithLimit returns a handler that refuses requests whose bodies would take too much memory, with 413, and lets others wait
// until there is enough for them, or refuses them with 429. Bodies have objects of the scheme, and at most maxBytes bytes.
// It has to come after authorization.
func WithLimit(handler http.Handler, scheme *runtime.Scheme, serializer runtime.NegotiatedSerializer, maxBytes int64) http.Handler {
	return &limiter{
		handler:    handler,
		serializer: serializer,
		maxBytes:   maxBytes,
		estimator:  newEstimator(scheme, MaxDecodedBytes, maxBytes),
		encoded:    semaphore.NewWeighted(maxEncodedBytes),
		decoded:    semaphore.NewWeighted(MaxDecodedBytes),
		maxWait:    maxWait,
	}
}

type limiter struct {
	handler    http.Handler
	serializer runtime.NegotiatedSerializer
	maxBytes   int64
	estimator  *estimator
	// encoded and decoded have the bytes of all requests together.
	encoded, decoded *semaphore.Weighted
	maxWait          time.Duration
}

// ServeHTTP serves the request when there is memory for its body.
func (l *limiter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	info, isKnown := apirequest.RequestInfoFrom(r.Context())
	if !isKnown || !info.IsResourceRequest || !hasObject(info.Verb) || r.Body == nil || r.ContentLength == 0 {
		l.handler.ServeHTTP(w, r)
		return
	}
	r = r.WithContext(r.Context()) // a copy, which gets another body
	release, err := l.admit(r, info)
	if err != nil {
		gv := schema.GroupVersion{Group: info.APIGroup, Version: info.APIVersion}
		responsewriters.ErrorNegotiated(err, l.serializer, gv, w, r)
		return
	}
	defer release()
	l.handler.ServeHTTP(w, r)
}

// hasObject returns whether the handlers of a verb decode the body.
func hasObject(verb string) bool {
	switch verb {
	case "create", "update", "patch", "delete", "deletecollection":
		return true
	}
	return false
}

// admit reads the body of the request, which the handler reads again, and waits until there is memory for what it becomes.
// release has to be called when the request has been served.
func (l *limiter) admit(r *http.Request, info *apirequest.RequestInfo) (release func(), err error) {
	reader := &pooledReader{from: r.Body, pool: l.encoded}
	defer func() {
		if err != nil {
			reader.release()
		}
	}()
	body, err := io.ReadAll(io.LimitReader(reader, l.maxBytes+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(body)) > l.maxBytes:
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", l.maxBytes))
	}
	r.Body = &replayedBody{Reader: bytes.NewReader(body), Closer: r.Body}
	size, err := l.estimator.estimate(r, info, body)
	if err != nil {
		return nil, refusal(err)
	}
	if size <= smallDecodedBytes {
		return reader.release, nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), l.maxWait)
	defer cancel()
	if l.decoded.Acquire(ctx, size) != nil {
		return nil, errBusy()
	}
	return func() {
		l.decoded.Release(size)
		reader.release()
	}, nil
}

// refusal returns what a request is refused with whose body cannot be decoded in the memory that it may take.
func refusal(err error) error {
	var tooLarge *decodedsize.TooLargeError
	var tooMany *decodedsize.TooManyError
	var yaml *decodedsize.YAMLError
	if errors.As(err, &tooLarge) || errors.As(err, &tooMany) || errors.As(err, &yaml) {
		return apierrors.NewRequestEntityTooLargeError(err.Error())
	}
	return apierrors.NewBadRequest(err.Error())
}

func errBusy() error {
	return apierrors.NewTooManyRequests("the server is working on other large requests, please try again", retryAfterSeconds)
}

// pooledReader takes what it reads beyond a small body from a pool.
type pooledReader struct {
	from        io.Reader
	pool        *semaphore.Weighted
	read, taken int64
}

// Read fails when the pool is empty: a request that waits for others here would keep what it has read itself.
func (r *pooledReader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	r.read += int64(n)
	if missing := r.read - smallEncodedBytes - r.taken; missing > 0 {
		if !r.pool.TryAcquire(missing) {
			return n, errBusy()
		}
		r.taken += missing
	}
	return n, err
}

func (r *pooledReader) release() {
	r.pool.Release(r.taken)
	r.taken = 0
}

// replayedBody is a body that was read already, which closes the real one.
type replayedBody struct {
	io.Reader
	io.Closer
}
