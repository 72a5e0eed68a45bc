// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// fastKV increases its revision by a large step with each write.
type fastKV struct {
	clientv3.KV
	step     int64
	revision atomic.Int64
}

func (kv *fastKV) Put(context.Context, string, string, ...clientv3.OpOption) (*clientv3.PutResponse, error) {
	return &clientv3.PutResponse{Header: &pb.ResponseHeader{Revision: kv.revision.Add(kv.step)}}, nil
}

func TestRevisionIsRaisedByWritesUpToALimit(t *testing.T) {
	const from = 7
	for _, row := range []struct {
		name        string
		isExclusive bool
		by          int64
		isWritten   bool
		// stops is whether the server stops to raise the revision.
		stops bool
	}{
		{"an embedded etcd that has the revision", true, 0, false, false},
		{"an embedded etcd that is ahead", true, -1, false, false},
		{"an embedded etcd", true, 1, true, false},
		{"an embedded etcd at the limit", true, 100_000, true, false},
		{"an embedded etcd beyond the limit", true, 100_001, false, true},
		{"an embedded etcd far beyond the limit", true, 10_000_001, false, true},
		{"an external etcd that has the revision", false, 0, false, false},
		{"an external etcd beyond the limit of an embedded etcd", false, 100_001, true, false},
		{"an external etcd at the limit", false, 10_000_000, true, false},
		{"an external etcd beyond the limit", false, 10_000_001, false, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			kv := &fastKV{step: max(row.by/8, 1)}
			kv.revision.Store(from)
			client := clientv3.NewCtxClient(t.Context())
			client.KV = kv
			var stopped error
			a := &attempt{
				Runner:   NewRunner(Config{IsExclusive: row.isExclusive}, func(err error) { stopped = err }),
				store:    newStore(client, "/registry"),
				position: Position{Revision: from},
			}
			err := a.raise(t.Context(), from+row.by)
			var raise *RaiseRevisionError
			if isRaise := errors.As(err, &raise); isRaise != row.stops || isRaise && (raise.To != from+row.by || !errors.Is(stopped, err)) || !isRaise && err != nil {
				t.Errorf("got %v, and the server stops with %v", err, stopped)
			}
			if !row.stops && stopped != nil {
				t.Errorf("the server stops with %v", stopped)
			}
			if got := kv.revision.Load(); got != from && !row.isWritten || got < from+row.by && row.isWritten {
				t.Errorf("the revision is %d, and was %d before it was raised to %d", got, from, from+row.by)
			}
		})
	}
}

// Clients that have seen later revisions would miss the recovered objects.
func TestStoreWhoseRevisionCannotBeRaisedIsNotServed(t *testing.T) {
	f := newFixture(t, deploymentOf(t, box("web", "1")))
	f.setLease(earlier)
	isFull := true
	f.hookRequests(func(_ context.Context, verb, key string) error {
		if isFull && verb == "put" && strings.HasSuffix(key, "/revision") {
			return errors.New("the store is full")
		}
		return nil
	})
	expectRefused(t, f, "raising the revision of the store: the store is full")
	expectNames(t, f.stored())
	isFull = false
	if position := f.serve(Empty); position.Revision <= earlier.Revision+revisionMargin {
		t.Errorf("the revision is %d", position.Revision)
	}
	expectNames(t, f.stored(), "web")
}
