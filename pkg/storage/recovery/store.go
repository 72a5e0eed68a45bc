// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package recovery makes sure that the server only serves from a store that is as far as the cluster knows it to have
// been. A store that is empty, behind or another one would have the server answer that boxes do not exist, and the
// cluster's garbage collector would delete their applications. Such a store is brought up to date, from what the
// boxes' own workloads, the NetworkAttachmentDefinitions of networks and the records of stacks say, before the first
// request is served.
package recovery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/storage/storagebackend"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/etcdclient"
)

// storeDirectory is below the prefix of all keys and beside those of the resources, so that snapshots have it. Changing it
// makes every store one that is not known.
const storeDirectory = "store.model.github.com"

// Identity is what a store knows of itself. It is kept in the store.
type Identity struct {
	// UID is the store's own. It changes when the store was recovered: its history is another one from then on. Empty in
	// a store that was never served from.
	UID types.UID `json:"uid,omitempty"`
	// Cluster is the ID of the etcd cluster that the identity was written to. A snapshot that is restored keeps the
	// identity and makes a cluster of its own. 0 in a store that was never served from.
	Cluster uint64 `json:"cluster,omitempty"`
	// Ancestors are the stores that this one was recovered from or took the place of, the latest first.
	Ancestors []types.UID `json:"ancestors,omitempty"`
	// Recovery is one that was begun and has not ended.
	Recovery *Recovery `json:"recovery,omitempty"`
}

// isRestored returns whether the store is what a snapshot was restored to, and was not served from since.
func (p *Position) isRestored() bool {
	return p.Identity.Cluster != 0 && p.Identity.Cluster != p.Cluster
}

// Recovery is why a store is recovered, and what for.
type Recovery struct {
	Situation Situation `json:"situation"`
	// Mark is what the cluster knew.
	Mark Mark `json:"mark"`
}

// Position is how far a store is.
type Position struct {
	Identity Identity
	// Revision is the store's. It only ever grows, unless the store is replaced by an older one.
	Revision int64
	// Cluster is the ID of the etcd cluster that it is in.
	Cluster uint64

	// version is that of the identity, 0 where there is none.
	version int64
}

// Store is the etcd that the server keeps its objects in.
type Store struct {
	client *clientv3.Client
	// directory of the keys that are about the store itself.
	directory string
}

// Open returns the store at the other end of the transport, whose keys begin with the prefix. It has to be closed.
func Open(config storagebackend.TransportConfig, prefix string) (*Store, error) {
	client, err := etcdclient.New(config)
	if err != nil {
		return nil, err
	}
	return newStore(client, prefix), nil
}

func newStore(client *clientv3.Client, prefix string) *Store {
	return &Store{client: client, directory: path.Join("/", prefix, storeDirectory)}
}

// Close ends the connection to the store.
func (s *Store) Close() error { return s.client.Close() }

func (s *Store) key(name string) string { return s.directory + "/" + name }
func (s *Store) identityKey() string    { return s.key("identity") }

// Position reads how far the store is. Nothing that was acknowledged before is missing from it.
func (s *Store) Position(ctx context.Context) (Position, error) {
	response, err := s.client.Get(ctx, s.identityKey())
	if err != nil {
		return Position{}, fmt.Errorf("reading the identity of the store: %w", err)
	}
	position := Position{Revision: response.Header.Revision, Cluster: response.Header.ClusterId}
	if len(response.Kvs) == 0 {
		return position, nil
	}
	position.version = response.Kvs[0].ModRevision
	if err := json.Unmarshal(response.Kvs[0].Value, &position.Identity); err != nil {
		return Position{}, fmt.Errorf("decoding the identity of the store, at %s: %w", s.identityKey(), err)
	}
	return position, nil
}

// errIdentityChanged is of a write that came after that of another process.
var errIdentityChanged = errors.New("another process has changed the identity of the store")

// setIdentity replaces the identity that was read at a position, in the cluster where it was read.
func (s *Store) setIdentity(ctx context.Context, read Position, identity Identity) (Position, error) {
	identity.Cluster = read.Cluster
	value, err := json.Marshal(identity)
	if err != nil {
		return Position{}, fmt.Errorf("encoding the identity of the store: %w", err)
	}
	response, err := s.client.Txn(ctx).
		If(clientv3.Compare(clientv3.ModRevision(s.identityKey()), "=", read.version)).
		Then(clientv3.OpPut(s.identityKey(), string(value))).
		Commit()
	if err != nil {
		return Position{}, fmt.Errorf("writing the identity of the store: %w", err)
	}
	if !response.Succeeded {
		return Position{}, errIdentityChanged
	}
	revision := response.Header.Revision
	return Position{Identity: identity, Revision: revision, Cluster: read.Cluster, version: revision}, nil
}
