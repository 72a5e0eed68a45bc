// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// maxAbsentOwners is the largest number of absent owners of one resource in a namespace that are listed by name. If a namespace
	// has more, all names of the resource in the namespace count as absent. It limits what one namespace adds to the list.
	maxAbsentOwners = 100
	// maxNamed is the number of children that a message names.
	maxNamed = 10
)

// AbsentOwner is an object that is the controller of children, and is neither stored nor recorded. The garbage collector deletes
// the children if the server answers that the object does not exist.
type AbsentOwner struct {
	// Resource is modelboxes, modelstacks or networks.
	Resource  string `json:"resource"`
	Namespace string `json:"namespace"`
	// Name is empty if the namespace has too many absent owners of the resource. The AbsentOwner then covers all names.
	Name string `json:"name,omitempty"`
	// UID is empty if Name is.
	UID types.UID `json:"uid,omitempty"`
}

// String returns the owner as messages name it, such as modelboxes shop/web.
func (o AbsentOwner) String() string {
	return o.Resource + " " + o.Namespace + "/" + cmp.Or(o.Name, "*")
}

func compareAbsentOwners(a, b AbsentOwner) int {
	return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
}

// orphan is a child whose controller is absent.
type orphan struct {
	owner AbsentOwner
	child string
}

func newOrphan(owners *kind, child child) orphan {
	return orphan{AbsentOwner{owners.resource, child.GetNamespace(), child.owner.Name, child.owner.UID}, child.String()}
}

// absentOwnersOf returns the owners of orphans, sorted and without duplicates. If a namespace has too many of a resource, it
// returns one AbsentOwner that covers all names.
func absentOwnersOf(orphans []orphan) []AbsentOwner {
	var owners []AbsentOwner
	counts := map[AbsentOwner]int{}
	for _, orphan := range orphans {
		owners = append(owners, orphan.owner)
	}
	slices.SortFunc(owners, compareAbsentOwners)
	owners = slices.Compact(owners)
	all := func(owner AbsentOwner) AbsentOwner {
		return AbsentOwner{Resource: owner.Resource, Namespace: owner.Namespace}
	}
	for _, owner := range owners {
		counts[all(owner)]++
	}
	for i, owner := range owners {
		if counts[all(owner)] > maxAbsentOwners {
			owners[i] = all(owner)
		}
	}
	return slices.Compact(owners)
}

// nameChildren returns the names of some of the orphans, for a message.
func nameChildren(orphans []orphan) string {
	var names []string
	for _, orphan := range orphans[:min(len(orphans), maxNamed)] {
		names = append(names, orphan.child)
	}
	return strings.Join(names, ", ")
}

// covers returns whether the owner is the other owner or represents all names of its resource in its namespace.
func (o AbsentOwner) covers(other AbsentOwner) bool {
	return o.Resource == other.Resource && o.Namespace == other.Namespace && (o.Name == "" || o == other)
}

// findOrphans returns the children in a namespace whose controller is not stored.
func findOrphans(ctx context.Context, contents *contents, cluster *cluster, namespace string) ([]orphan, error) {
	cluster = cluster.in(namespace)
	var orphans []orphan
	visit := func(objects *objects) func(child) error {
		return func(child child) error {
			stored, isStored, err := objects.summary(ctx, child.ownerName())
			if err != nil {
				return err
			}
			if !isStored || !stored.IsCorrupt && stored.UID != child.owner.UID {
				orphans = append(orphans, newOrphan(objects.kind, child))
			}
			return nil
		}
	}
	for _, objects := range contents.all() {
		if err := objects.eachRecord(ctx, cluster, visit(objects)); err != nil {
			return nil, err
		}
	}
	for _, resource := range []schema.GroupVersionResource{services, endpointSlices} {
		if err := eachChildOfStack(ctx, cluster, resource, visit(contents.stacks)); err != nil {
			return nil, err
		}
	}
	return orphans, nil
}

// stillAbsent returns the owners that still have children in the cluster.
func stillAbsent(ctx context.Context, owners []AbsentOwner, contents *contents, cluster *cluster) ([]AbsentOwner, error) {
	found := map[string][]orphan{}
	var still []AbsentOwner
	for _, owner := range owners {
		orphans, isKnown := found[owner.Namespace]
		if !isKnown {
			var err error
			if orphans, err = findOrphans(ctx, contents, cluster, owner.Namespace); err != nil {
				return nil, err
			}
			found[owner.Namespace] = orphans
		}
		if slices.ContainsFunc(orphans, func(orphan orphan) bool { return owner.covers(orphan.owner) }) {
			still = append(still, owner)
		}
	}
	return still, nil
}

// absentOwners has the absent owners in the store, from the last recovery.
type absentOwners struct {
	owners []AbsentOwner
	// version is the revision of the key in the store, 0 if the key does not exist.
	version int64
}

func (s *Store) absentOwnersKey() string { return s.key("absent-owners") }

// absentOwners reads the absent owners from the store.
func (s *Store) absentOwners(ctx context.Context) (absentOwners, error) {
	response, err := s.client.Get(ctx, s.absentOwnersKey())
	if err != nil {
		return absentOwners{}, fmt.Errorf("reading the absent owners of the store: %w", err)
	}
	if len(response.Kvs) == 0 {
		return absentOwners{}, nil
	}
	read := absentOwners{version: response.Kvs[0].ModRevision}
	if err := json.Unmarshal(response.Kvs[0].Value, &read.owners); err != nil {
		return absentOwners{}, fmt.Errorf("decoding the absent owners of the store, at %s: %w", s.absentOwnersKey(), err)
	}
	return read, nil
}

// setAbsentOwners replaces the absent owners that were read. It does nothing if another server has replaced them since.
func (s *Store) setAbsentOwners(ctx context.Context, read absentOwners, owners []AbsentOwner) error {
	if len(owners) == 0 && read.version == 0 {
		return nil
	}
	write := clientv3.OpDelete(s.absentOwnersKey())
	if len(owners) > 0 {
		value, err := json.Marshal(owners)
		if err != nil {
			return fmt.Errorf("encoding the absent owners of the store: %w", err)
		}
		write = clientv3.OpPut(s.absentOwnersKey(), string(value))
	}
	_, err := s.client.Txn(ctx).
		If(clientv3.Compare(clientv3.ModRevision(s.absentOwnersKey()), "=", read.version)).
		Then(write).
		Commit()
	if err != nil {
		return fmt.Errorf("writing the absent owners of the store: %w", err)
	}
	return nil
}
