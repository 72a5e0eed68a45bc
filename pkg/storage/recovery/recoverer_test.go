// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/networkattachment"
)

func TestARecoveryCountsObjectsByAction(t *testing.T) {
	for _, k := range recordedKinds {
		t.Run(k.noun, func(t *testing.T) {
			named := func(name string, uid types.UID, generation int64) recordable {
				return k.newRecord(func(record recordable) {
					record.SetName(name)
					record.SetUID(uid)
					record.SetGeneration(generation)
				})
			}
			f := newFixture(t,
				k.child(t, named("created", "1", 1)),
				k.child(t, named("updated", "2", 2)),
				k.child(t, named("agreed", "3", 1)),
				k.child(t, named("newer", "4", 1)),
				k.child(t, named("renewed", "new", 1)),
				k.child(t, named("corrupt", "6", 1)),
				k.childOf(t, named("unreadable", "7", 1), "?"),
				k.childOf(t, named("lost", "8", 1), "?"),
				k.childOf(t, named("stranger", "9", 1), "?"),
			)
			for _, record := range []recordable{
				named("updated", "2", 1), named("agreed", "3", 1), named("newer", "4", 2), named("renewed", "old", 1),
				named("unreadable", "7", 1), named("stranger", "another", 1),
			} {
				k.put(f, record)
			}
			applied, err := k.fromRecord(named("removed", "5", 1))
			if err != nil {
				t.Fatal(err)
			}
			k.setApplied(applied)
			objects := k.objects(f)
			if err := objects.create(t.Context(), applied); err != nil {
				t.Fatal(err)
			}
			if _, err := f.store.client.Put(t.Context(), objects.rawKey(types.NamespacedName{Namespace: testNamespace, Name: "corrupt"}), "?"); err != nil {
				t.Fatal(err)
			}

			done := &recovered{}
			expectCounted(t, func() {
				if done, err = recoverObjects(t.Context(), Behind, f.contents, f.hostCluster()); err != nil {
					t.Fatal(err)
				}
			}, map[string]float64{
				"recovered_" + k.plural + "_total created":  1,
				"recovered_" + k.plural + "_total updated":  1,
				"recovered_" + k.plural + "_total replaced": 1,
				"recovered_" + k.plural + "_total removed":  1,
			})
			counts := map[string]map[action]int{"boxes": done.boxes, "stacks": done.stacks, "networks": done.networks}
			if diff := cmp.Diff(map[action]int{create: 1, update: 1, replace: 1, remove: 1, keep: 4}, counts[k.plural]); diff != "" {
				t.Errorf("actions: -want +got:\n%s", diff)
			}
			if diff := cmp.Diff([]AbsentOwner{{k.resource, testNamespace, "lost", "8"}, {k.resource, testNamespace, "stranger", "9"}}, absentOwnersOf(done.orphans)); diff != "" {
				t.Errorf("absent owners: -want +got:\n%s", diff)
			}
		})
	}
}

// A store that lacks the objects of a list that failed would be incomplete.
func TestARecoveryFailsIfAListOfRecordsFails(t *testing.T) {
	for _, resource := range []string{"deployments", "statefulsets", "controllerrevisions", networkattachment.Resource.Resource, "services", "endpointslices"} {
		t.Run(resource, func(t *testing.T) {
			f := newFixture(t, deploymentOf(t, box("web", "1")))
			f.setLease(earlier)
			isCut := true
			refuse := func(clienttesting.Action) (bool, runtime.Object, error) {
				return isCut, nil, apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "", nil)
			}
			f.cluster.PrependReactor("list", resource, refuse)
			f.metadataClient().PrependReactor("list", resource, refuse)
			expectRefused(t, f, resource, "forbidden")
			if got := mustMark(t, f.lease()).Store; got != earlier.Identity.UID {
				t.Errorf("the Lease names store %s", got)
			}
			isCut = false
			f.serve(Empty)
			expectNames(t, f.stored(), "web")
		})
	}
}

// The garbage collector would delete a box whose owner is a stack that was replaced.
func TestEachStoredBoxOfAReplacedStackIsOrphaned(t *testing.T) {
	former := stack("shop", "old")
	f := newFixture(t, revisionOf(t, stack("shop", "new", createdAt(1))))
	f.putStacks(former)
	paused := func(name string) types.UID { return types.UID(name + "-uid") }
	names := []string{"a", "b", "c"}
	for _, name := range names {
		stored := mustBox(t, boxOf(former, name, paused(name)))
		stored.OwnerReferences = append(stored.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "settings", UID: "c"})
		if err := f.boxes.create(t.Context(), stored); err != nil {
			t.Fatal(err)
		}
	}
	f.setLease(another)
	f.serve(Foreign)
	for _, name := range names {
		expectOwners(t, f.stored()[name], "c")
	}
}

// A batch is written when it has the objects of a page, so that few objects are in memory.
func TestRestoredObjectsAreWrittenInBatches(t *testing.T) {
	f := newFixture(t)
	r, err := newRecoverer(t.Context(), Empty, f.boxes, f.hostCluster(), newOwners())
	if err != nil {
		t.Fatal(err)
	}
	restore := func(from, to int) {
		t.Helper()
		for i := from; i < to; i++ {
			name := fmt.Sprintf("box-%d", i)
			workload := deploymentOf(t, box(name, types.UID(name)))
			if err := r.restore(t.Context(), child{workload, "deployments", workload.OwnerReferences[0]}); err != nil {
				t.Fatal(err)
			}
		}
	}
	restore(0, childrenPerPage-1)
	if got := len(f.stored()); got != 0 {
		t.Errorf("%d boxes are written before the batch is full", got)
	}
	restore(childrenPerPage-1, childrenPerPage)
	if got := len(f.stored()); got != childrenPerPage {
		t.Errorf("%d boxes are written when the batch is full, want %d", got, childrenPerPage)
	}
}
