// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package linearizability

import (
	"encoding/json"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/watch"

	modelscheme "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/scheme"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/compression"
)

// etcd is the store of the server. Each read uses a new connection, because the server may end meanwhile.
type etcd struct {
	endpoints []string
	// prefix is the prefix of the keys of objects of the group, before the resource.
	prefix string
}

func (e etcd) connect(t *testing.T) *clientv3.Client {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: e.endpoints})
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

// changes returns the changes of objects of a namespace after a revision up to another revision, which must be the revision of such
// a change.
func (e etcd) changes(t *testing.T, namespace string, after, upTo int64) []Change {
	t.Helper()
	client := e.connect(t)
	defer client.Close()
	var changes []Change
	for response := range client.Watch(t.Context(), e.prefix, clientv3.WithPrefix(), clientv3.WithPrevKV(), clientv3.WithRev(after+1)) {
		if err := response.Err(); err != nil {
			t.Fatalf("reading the history of etcd: %v", err)
		}
		for _, event := range response.Events {
			resource, name, isObject := strings.Cut(strings.TrimPrefix(string(event.Kv.Key), e.prefix), "/"+namespace+"/")
			if isObject && kinds[resource] != "" {
				changes = append(changes, changeOf(t, Key{resource, name}, event))
			}
			if event.Kv.ModRevision >= upTo {
				return changes
			}
		}
	}
	t.Fatalf("the history of etcd ends before revision %d", upTo)
	return nil
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
