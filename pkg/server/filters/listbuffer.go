// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package filters

import (
	"bufio"
	"net/http"
	"sync"

	apirequest "k8s.io/apiserver/pkg/endpoints/request"
)

// listBufferSize is the size of four full frames of HTTP/2, in bytes. Each list that is being written has such a buffer.
const listBufferSize = 64 << 10

// withListBuffer writes lists in few large pieces. The encoders write two small ones for every object, of which HTTP/2 makes frames
// of 4 KiB, each with a system call here, and again in the aggregation layer. It leaves everything else alone: a watch sends each
// event when it happens.
func withListBuffer(handler http.Handler) http.Handler {
	buffers := sync.Pool{New: func() any { return bufio.NewWriterSize(nil, listBufferSize) }}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if info, found := apirequest.RequestInfoFrom(r.Context()); !found || info.Verb != "list" {
			handler.ServeHTTP(w, r)
			return
		}
		buffer := buffers.Get().(*bufio.Writer)
		buffer.Reset(w)
		handler.ServeHTTP(&bufferedResponse{ResponseWriter: w, buffer: buffer}, r)
		_ = buffer.Flush() // fails if the client has closed the connection
		buffer.Reset(nil)
		buffers.Put(buffer)
	})
}

// bufferedResponse passes on what is written when the buffer is full.
type bufferedResponse struct {
	http.ResponseWriter
	buffer *bufio.Writer
}

// Write keeps the bytes in the buffer.
func (r *bufferedResponse) Write(p []byte) (int, error) { return r.buffer.Write(p) }

// Unwrap returns the response that the buffer is for.
func (r *bufferedResponse) Unwrap() http.ResponseWriter { return r.ResponseWriter }
