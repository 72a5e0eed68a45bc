// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/apis/example"
)

func TestClientOfEtcd(t *testing.T) {
	pods, s := newTestStorage(t)
	client := s.NewClient(t.Context(), "/registry")
	for _, name := range []string{"a", "b"} {
		pod := &example.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
		if err := pods.Create(t.Context(), "/pods/default/"+name, pod, nil, 0); err != nil {
			t.Fatal(err)
		}
	}
	keys := func(key string, options ...clientv3.OpOption) (keys []string, more bool) {
		t.Helper()
		response, err := client.Get(t.Context(), key, options...)
		if err != nil {
			t.Fatal(err)
		}
		if response.Header.Revision != s.Revision() {
			t.Errorf("the revision of the response is %d, want %d", response.Header.Revision, s.Revision())
		}
		for _, pair := range response.Kvs {
			keys = append(keys, string(pair.Key))
		}
		return keys, response.More
	}
	expect := func(want []string, wantMore bool, key string, options ...clientv3.OpOption) {
		t.Helper()
		got, more := keys(key, options...)
		if diff := cmp.Diff(want, got); diff != "" || more != wantMore {
			t.Errorf("%s: more %t, -want +got:\n%s", key, more, diff)
		}
	}
	a, b := "/registry/pods/default/a", "/registry/pods/default/b"
	expect([]string{a, b}, false, "/registry/pods/", clientv3.WithPrefix())
	expect([]string{a}, true, "/registry/pods/", clientv3.WithPrefix(), clientv3.WithLimit(1))
	expect([]string{b}, false, a+"\x00", clientv3.WithRange(clientv3.GetPrefixRangeEnd("/registry/pods/")), clientv3.WithLimit(1))
	expect([]string{b}, false, b)
	expect(nil, false, "/registry/pods/default")

	put := func(version int64, value string) bool {
		t.Helper()
		response, err := client.Txn(t.Context()).If(clientv3.Compare(clientv3.ModRevision("/own/key"), "=", version)).Then(clientv3.OpPut("/own/key", value)).Commit()
		if err != nil {
			t.Fatal(err)
		}
		return response.Succeeded
	}
	if !put(0, "first") || put(0, "second") || !put(s.Revision(), "third") {
		t.Error("a transaction compares another revision than the one of the last write")
	}
	snapshot := s.Snapshot()
	if _, err := client.Put(t.Context(), "/own/key", "later"); err != nil {
		t.Fatal(err)
	}
	before, err := client.Get(t.Context(), "/own/key")
	if err != nil {
		t.Fatal(err)
	}
	s.Restore(snapshot)
	after, err := client.Get(t.Context(), "/own/key")
	if err != nil {
		t.Fatal(err)
	}
	if got := string(after.Kvs[0].Value); got != "third" || after.Header.ClusterId == before.Header.ClusterId || after.Header.Revision >= before.Header.Revision {
		t.Errorf("the restored value is %q at revision %d of cluster %d, before %d of %d", got,
			after.Header.Revision, after.Header.ClusterId, before.Header.Revision, before.Header.ClusterId)
	}
	expect([]string{a, b}, false, "/registry/pods/", clientv3.WithPrefix())
	s.Restore(nil)
	expect(nil, false, "/registry/pods/", clientv3.WithPrefix())
	expect(nil, false, "/own/key")
}

func TestLockOfEtcd(t *testing.T) {
	_, s := newTestStorage(t)
	newSession := func() *concurrency.Session {
		session, err := concurrency.NewSession(s.NewClient(t.Context(), "/registry"))
		if err != nil {
			t.Fatal(err)
		}
		return session
	}
	first, second := newSession(), newSession()
	defer second.Close()
	if err := concurrency.NewMutex(first, "/own/lock").TryLock(t.Context()); err != nil {
		t.Fatal(err)
	}
	lock := concurrency.NewMutex(second, "/own/lock")
	if err := lock.TryLock(t.Context()); !errors.Is(err, concurrency.ErrLocked) {
		t.Errorf("the second session locks as well: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := lock.TryLock(t.Context()); err != nil {
		t.Errorf("after the end of the first session: %v", err)
	}
}
