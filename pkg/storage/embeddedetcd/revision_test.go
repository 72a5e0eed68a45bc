// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package embeddedetcd

import (
	"context"
	"errors"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

func TestRaiseRevision(t *testing.T) {
	const to = 5_000_000_000
	dir := newDir(t)
	stop := start(t, dir)
	put(t, dir, "web", "1")
	stop()
	if err := RaiseRevision(dir, to); err != nil {
		t.Fatal(err)
	}
	stop = start(t, dir)
	checkValue(t, dir, "web", "1")
	put(t, dir, "web", "2")
	stop()
	// RaiseRevision never decreases the revision.
	if err := RaiseRevision(dir, 3); err != nil {
		t.Fatal(err)
	}
	start(t, dir)
	with(t, dir, func(ctx context.Context, client *clientv3.Client) error {
		response, err := client.Get(ctx, "w", clientv3.WithPrefix())
		if err != nil {
			return err
		}
		if len(response.Kvs) != 1 || string(response.Kvs[0].Value) != "2" || response.Header.Revision != to+1 {
			t.Errorf("at revision %d etcd has %v", response.Header.Revision, response.Kvs)
		}
		if _, err := client.Get(ctx, "web", clientv3.WithRev(2)); !errors.Is(err, rpctypes.ErrCompacted) {
			t.Errorf("reading an earlier revision: %v", err)
		}
		return nil
	})
}

func TestRaiseRevisionOfNothing(t *testing.T) {
	if err := RaiseRevision(newDir(t), 5); err == nil {
		t.Error("got no error")
	}
}
