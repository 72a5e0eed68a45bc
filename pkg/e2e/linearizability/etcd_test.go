// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package linearizability

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
	modelscheme "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/scheme"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/compression"
)

// maxConnectDelay is the longest time between two attempts to connect to a server that has ended.
const maxConnectDelay = 500 * time.Millisecond

// etcd is the store of the server.
type etcd struct {
	endpoints []string
	// prefix is the prefix of the keys of objects of the group, before the resource.
	prefix string
}

func (e etcd) connect(t *testing.T) *clientv3.Client {
	t.Helper()
	quickly := backoff.DefaultConfig
	quickly.MaxDelay = maxConnectDelay
	client, err := clientv3.New(clientv3.Config{Endpoints: e.endpoints, DialOptions: []grpc.DialOption{grpc.WithConnectParams(grpc.ConnectParams{Backoff: quickly})}})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// revision returns the current revision.
func (e etcd) revision(t *testing.T) int64 {
	t.Helper()
	client := e.connect(t)
	defer client.Close()
	response, err := client.Get(t.Context(), e.prefix, clientv3.WithCountOnly())
	if err != nil {
		t.Fatalf("reading the revision of etcd: %v", err)
	}
	return response.Header.Revision
}

// follow follows the changes of objects of the namespace after a revision, until the test ends. It reads them while they are made, because
// a server compacts its history when its disk is full.
func (e etcd) follow(t *testing.T, namespace string, after int64) *follower {
	t.Helper()
	f := &follower{prefix: e.prefix, namespace: namespace, revision: after}
	client := e.connect(t)
	ctx, stop := context.WithCancel(t.Context())
	var following sync.WaitGroup
	t.Cleanup(func() {
		stop()
		following.Wait()
		client.Close()
	})
	responses := client.Watch(ctx, e.prefix, clientv3.WithPrefix(), clientv3.WithPrevKV(), clientv3.WithRev(after+1))
	following.Go(func() {
		for response := range responses {
			f.add(response)
		}
	})
	return f
}

// follower has the changes in the store.
type follower struct {
	prefix, namespace string

	mu     sync.Mutex
	events []*clientv3.Event
	// revision is the revision of the last event.
	revision int64
	// err is why there are no further events.
	err error
}

func (f *follower) add(response clientv3.WatchResponse) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = response.Err()
	for _, event := range response.Events {
		f.events, f.revision = append(f.events, event), event.Kv.ModRevision
	}
}

// upTo waits until the change with the revision was read, and returns all changes. It returns an error if the server has compacted changes
// before they were read.
func (f *follower) upTo(n *framework.Namespace, revision int64) ([]Change, error) {
	n.T.Helper()
	n.Eventually(fmt.Sprintf("the history of etcd was read up to revision %d", revision), func() error {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.err == nil && f.revision < revision {
			return fmt.Errorf("it was read up to revision %d", f.revision)
		}
		return nil
	})
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return nil, f.err
	}
	var changes []Change
	for _, event := range f.events {
		resource, name, isObject := strings.Cut(strings.TrimPrefix(string(event.Kv.Key), f.prefix), "/"+f.namespace+"/")
		if isObject && kinds[resource] != "" && event.Kv.ModRevision <= revision {
			changes = append(changes, changeOf(n.T, Key{resource, name}, event))
		}
	}
	return changes, nil
}

func changeOf(t *testing.T, key Key, event *clientv3.Event) Change {
	t.Helper()
	change, stored := Change{Type: watch.Modified, Key: key}, event.Kv.Value
	switch {
	case event.Type == mvccpb.DELETE:
		change.Type, stored = watch.Deleted, event.PrevKv.Value
	case event.IsCreate():
		change.Type = watch.Added
	}
	change.Object = decode(t, stored)
	change.Object.Revision = event.Kv.ModRevision
	return change
}

// decode returns the object in a stored value.
func decode(t *testing.T, stored []byte) Object {
	t.Helper()
	data, _, err := compression.Decompress(stored)
	if err != nil {
		t.Fatal(err)
	}
	decoded, _, err := modelscheme.Codecs.UniversalDeserializer().Decode(data, nil, nil)
	if err != nil {
		t.Fatalf("decoding what is stored: %v", err)
	}
	if data, err = json.Marshal(decoded); err != nil {
		t.Fatal(err)
	}
	has := served{}
	if err := json.Unmarshal(data, &has); err != nil {
		t.Fatal(err)
	}
	return has.object()
}
