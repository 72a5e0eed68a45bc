// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package filters

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
)

// writeRecorder keeps the sizes of what is written.
type writeRecorder struct {
	*httptest.ResponseRecorder
	sizes []int
}

func (r *writeRecorder) Write(p []byte) (int, error) {
	r.sizes = append(r.sizes, len(p))
	return r.ResponseRecorder.Write(p)
}

func TestListBuffer(t *testing.T) {
	object := bytes.Repeat([]byte("box "), 1<<10)
	tests := []struct {
		name    string
		info    *apirequest.RequestInfo
		objects int
		want    []int
	}{
		{"a long list is written in large pieces", &apirequest.RequestInfo{Verb: "list"}, 40, []int{64 << 10, 64 << 10, 32 << 10}},
		{"a short one at its end", &apirequest.RequestInfo{Verb: "list"}, 2, []int{8 << 10}},
		{"an empty one not at all", &apirequest.RequestInfo{Verb: "list"}, 0, nil},
		{"each event of a watch at once", &apirequest.RequestInfo{Verb: "watch"}, 3, []int{4 << 10, 4 << 10, 4 << 10}},
		{"what is no request for objects too", nil, 3, []int{4 << 10, 4 << 10, 4 << 10}},
	}
	// One handler for all: a buffer is used again, and must not bring anything from the response before.
	handler := withListBuffer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		for range r.Context().Value(objectsKey{}).(int) {
			if _, err := w.Write(object); err != nil {
				t.Errorf("writing an object: %v", err)
			}
		}
	}))
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r = r.WithContext(context.WithValue(r.Context(), objectsKey{}, test.objects))
			if test.info != nil {
				r = r.WithContext(apirequest.WithRequestInfo(r.Context(), test.info))
			}
			w := &writeRecorder{ResponseRecorder: httptest.NewRecorder()}
			handler.ServeHTTP(w, r)
			if diff := cmp.Diff(test.want, w.sizes); diff != "" {
				t.Errorf("pieces (-want +got):\n%s", diff)
			}
			if want := bytes.Repeat(object, test.objects); !bytes.Equal(w.Body.Bytes(), want) {
				t.Errorf("the body has %d bytes, and not those %d that were written", w.Body.Len(), len(want))
			}
			if w.Code != http.StatusTeapot {
				t.Errorf("status %d", w.Code)
			}
		})
	}
}

// objectsKey is how many objects the handler of the test writes.
type objectsKey struct{}
