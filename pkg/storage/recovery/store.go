// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package recovery makes sure that the server never serves from a store that has lost objects. From a store that is empty, older
// than before or foreign, the server would answer that boxes do not exist, and the garbage collector of the cluster would delete
// their applications. Before the first request, the server compares the store with the Lease of leader election. It recovers a
// store that has lost objects from the records in the cluster: the annotations of workloads and NetworkAttachmentDefinitions, and
// the ControllerRevisions of stacks.
package recovery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/types"
)

// storeDirectory is the directory of the keys about the store itself. It is below the prefix of all keys and beside the directories
// of the resources, so that snapshots include it. A change would make every store a store without an identity.
const storeDirectory = "store.model.github.com"

// Identity is the identity of a store. It is stored in the store.
type Identity struct {
	// UID is unique to the store. A recovery gives the store a new UID, because its history differs from then on. Empty in a
	// store that no server has served from.
	UID types.UID `json:"uid,omitempty"`
	// ClusterID is the ID of the etcd cluster that the identity was written to. A restored snapshot has the same identity and a new
	// etcd cluster. 0 in a store that no server has served from.
	ClusterID uint64 `json:"cluster,omitempty"`
	// Ancestors are the UIDs of the stores that this store was recovered from or has replaced, the latest first.
	Ancestors []types.UID `json:"ancestors,omitempty"`
	// Recovery is a recovery that has begun and not ended, nil if there is none.
	Recovery *Recovery `json:"recovery,omitempty"`
}

// isRestored returns whether the store was restored from a snapshot, and no server has served from it since.
func (p *Position) isRestored() bool {
	return p.Identity.ClusterID != 0 && p.Identity.ClusterID != p.ClusterID
}

// Recovery is the reason of a recovery, so that a recovery after an interruption has the same reason.
type Recovery struct {
	Situation Situation `json:"situation"`
	// Mark is the mark of the Lease when the recovery began.
	Mark Mark `json:"mark"`
}

// Position is the identity and the revision of a store at one time.
type Position struct {
	Identity Identity
	// Revision is the revision of etcd. It only increases, unless the store is replaced by an older one.
	Revision int64
	// ClusterID is the ID of the etcd cluster.
	ClusterID uint64

	// version is the revision of the key of the identity, 0 if there is no identity.
	version int64
}

// Store is the etcd that the server keeps its objects in.
type Store struct {
	client *clientv3.Client
	// directory has the keys about the store itself.
	directory string
}

// newStore returns the store of the client, with keys below the prefix. The caller must close it.
func newStore(client *clientv3.Client, prefix string) *Store {
	return &Store{client: client, directory: path.Join("/", prefix, storeDirectory)}
}

// Close closes the connection to the store.
func (s *Store) Close() error { return s.client.Close() }

func (s *Store) key(name string) string { return s.directory + "/" + name }
func (s *Store) identityKey() string    { return s.key("identity") }

// Position reads the identity and the revision of the store. The read is linearizable: the revision includes every write that etcd
// acknowledged before.
func (s *Store) Position(ctx context.Context) (Position, error) {
	response, err := s.client.Get(ctx, s.identityKey())
	if err != nil {
		return Position{}, fmt.Errorf("reading the identity of the store: %w", err)
	}
	position := Position{Revision: response.Header.Revision, ClusterID: response.Header.ClusterId}
	if len(response.Kvs) == 0 {
		return position, nil
	}
	position.version = response.Kvs[0].ModRevision
	if err := json.Unmarshal(response.Kvs[0].Value, &position.Identity); err != nil {
		return Position{}, fmt.Errorf("decoding the identity of the store, at %s: %w", s.identityKey(), err)
	}
	return position, nil
}

// errIdentityChanged is returned if another process has written the identity since it was read.
var errIdentityChanged = errors.New("another process has changed the identity of the store")

// setIdentity replaces the identity that was read with the position, and returns the new position.
func (s *Store) setIdentity(ctx context.Context, read Position, identity Identity) (Position, error) {
	identity.ClusterID = read.ClusterID
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
	return Position{Identity: identity, Revision: revision, ClusterID: read.ClusterID, version: revision}, nil
}
