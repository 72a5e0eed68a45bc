// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package boxlog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/subresource"
)

// A Request is the object that a log is to a handler of requests.
var _ rest.ResourceStreamer = &Request{}

// stream is a request that is being answered.
type stream struct {
	*Request
	out   *io.PipeWriter
	began time.Time
	// refused are the pods that may not be read.
	refused sets.Set[types.UID]
}

// GetObjectKind returns nothing: a stream is no object of the API.
func (*Request) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject panics: a stream cannot be copied.
func (*Request) DeepCopyObject() runtime.Object { panic("a boxlog.Request cannot be copied") }

// InputStream returns the logs. They are flushed as they come.
func (r *Request) InputStream(ctx context.Context, _, _ string) (stream io.ReadCloser, flush bool, mimeType string, err error) {
	logs, err := r.Stream(genericapirequest.WithNamespace(ctx, r.Box.Namespace))
	if err != nil {
		return nil, false, "", err
	}
	return logs, true, "text/plain", nil
}

// Stream returns the logs as one text, which ends with the error of the context when it is done, and without an error when it is
// closed. Lines that begin with "error: " report the errors of some logs. It returns an error if there would be no other lines.
//
// It reads no more of the logs than the client reads: a slow client holds back the logs.
func (r *Request) Stream(request context.Context) (io.ReadCloser, error) {
	running, stop := r.UntilStop(request)
	ctx, cancel := context.WithCancelCause(running)
	in, out := io.Pipe()
	s := &stream{Request: r, out: out, began: time.Now(), refused: sets.New[types.UID]()}
	var run func()
	refusals, err := s.checkPods(ctx)
	if err == nil {
		if r.Options.Follow {
			run, err = s.follow(ctx)
		} else {
			run, err = s.readAll(ctx)
		}
	}
	if err != nil {
		cancel(err)
		stop()
		return nil, err
	}
	// Writers get an error when the client no longer reads, and the reader gets one at the end of the logs.
	context.AfterFunc(ctx, func() { out.CloseWithError(context.Cause(ctx)) })
	go func() {
		defer cancel(io.EOF)
		for _, refusal := range refusals {
			s.report(refusal)
		}
		run()
	}()
	return &output{in, request, running, func() {
		cancel(io.ErrClosedPipe)
		stop()
	}}, nil
}

// output is the text of a stream, and the body of the answer to the request.
type output struct {
	*io.PipeReader
	// request is the context of the request, and running is done as well when the server stops.
	request, running context.Context
	end              func()
}

// Read reads the logs. When the server stops it aborts the answer: who follows logs to their end would take any other for that.
func (o *output) Read(into []byte) (int, error) {
	n, err := o.PipeReader.Read(into)
	if err != nil && o.running.Err() != nil && o.request.Err() == nil {
		panic(http.ErrAbortHandler)
	}
	return n, err
}

// Close ends the stream.
func (o *output) Close() error {
	o.end()
	return o.PipeReader.Close()
}

// checkPods returns why some of the pods may not be read, or an error where none may be.
func (s *stream) checkPods(ctx context.Context) ([]error, error) {
	var refusals []error
	var allowed []string
	for _, pod := range sorted(s.Pods) {
		err := s.CheckPod(ctx, pod.Name)
		switch {
		case apierrors.IsForbidden(err):
			s.refused.Insert(pod.UID)
			refusals = append(refusals, err)
		case err != nil:
			return nil, err
		default:
			allowed = append(allowed, pod.Name)
		}
	}
	if len(refusals) > 0 && len(refusals) == len(s.Pods) {
		return nil, refusals[0]
	}
	if len(allowed) > 0 {
		s.Record(ctx, false, allowed)
	}
	return refusals, nil
}

// report says in the stream what is wrong.
func (s *stream) report(err error) {
	// Who reads the stream no more is not told.
	_, _ = fmt.Fprintf(s.out, "error: %v\n", err)
}

// readAll returns what reads the logs as they are, one after the other. The first one is open then.
func (s *stream) readAll(ctx context.Context) (run func(), err error) {
	type log struct {
		pod       *corev1.Pod
		container string
	}
	var logs []log
	for _, pod := range sorted(s.Pods) {
		if s.refused.Has(pod.UID) {
			continue
		}
		for _, container := range s.containersOf(&pod) {
			logs = append(logs, log{&pod, container})
		}
	}
	open := func(log log) (io.ReadCloser, error) {
		return s.Open(ctx, nameOf(log.pod), s.podLogOptions(log.container, false, time.Since(s.began)))
	}
	var failures []error
	for i, first := range logs {
		opened, err := open(first)
		if err != nil {
			failures = append(failures, inLog(err, first.pod.Name, first.container))
			continue
		}
		return func() {
			for _, failure := range failures {
				s.report(failure)
			}
			s.read(opened, first.pod.Name, first.container)
			for _, next := range logs[i+1:] {
				opened, err := open(next)
				if ctx.Err() != nil {
					return
				}
				if err != nil {
					s.report(inLog(err, next.pod.Name, next.container))
					continue
				}
				s.read(opened, next.pod.Name, next.container)
			}
		}, nil
	}
	if len(failures) == 0 {
		return func() {}, nil
	}
	return nil, failures[0]
}

// read delivers a log.
func (s *stream) read(log io.ReadCloser, pod, container string) {
	defer log.Close()
	if _, err := s.newWriter(s.out, pod, container).copy(log, false, endOfLog); err != nil && !isEnd(err) {
		s.report(inLog(err, pod, container))
	}
}

// inLog says which log an error is about.
func inLog(err error, pod, container string) error {
	return subresource.WithContext(fmt.Sprintf("container %s of pod %s", container, pod), err)
}

// isEnd returns whether the server stops reading a log because it has delivered enough, or because the client no longer reads it.
func isEnd(err error) bool {
	return errors.Is(err, errLimit) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, context.Canceled)
}
