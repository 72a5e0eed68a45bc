// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/etcd/client/v3/concurrency"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// lockPatience is the timeout for the end of a recovery whose lock is lost.
const lockPatience = time.Minute

// earlier is the mark of a store that was lost.
var earlier = Position{Identity: Identity{UID: "lost", Ancestors: []types.UID{"before"}}, Revision: 500}

func names[V any](of map[string]V) []string { return slices.Sorted(maps.Keys(of)) }

func expectNames[V any](t *testing.T, got map[string]V, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, names(got)); diff != "" {
		t.Errorf("boxes: -want +got:\n%s", diff)
	}
}

func expectRefused(t *testing.T, f *fixture, texts ...string) {
	t.Helper()
	_, err := f.attempt()
	if err == nil {
		t.Fatal("the server serves from the store")
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("the error does not contain %q: %v", text, err)
		}
	}
}

func TestTheFirstStartGivesTheStoreAnIdentity(t *testing.T) {
	f := newFixture(t)
	var first Position
	expectCounted(t, func() { first = f.serve(New) }, map[string]float64{"starts_total New": 1})
	if first.Identity.UID == "" {
		t.Fatal("the store has no identity")
	}
	if got := mustMark(t, f.lease()); got.Store != first.Identity.UID || got.Revision != first.Revision {
		t.Errorf("the Lease is marked %v, want %v", got, first)
	}
	f.cluster.ClearActions()
	if second := f.serve(Current); second.Identity.UID != first.Identity.UID {
		t.Errorf("after a restart the store is %s, and was %s", second.Identity.UID, first.Identity.UID)
	}
	if got := len(f.cluster.Actions()); got != 1 {
		t.Errorf("a restart sends %d requests: %v", got, f.cluster.Actions())
	}
}

func TestAnUpgradeKeepsWhatIsStored(t *testing.T) {
	f := newFixture(t, deploymentOf(t, box("web", "1", atGeneration(7))))
	f.put(box("web", "1"))
	f.serve(Current)
	if got := f.stored()["web"].Generation; got != 1 {
		t.Errorf("the box has generation %d", got)
	}
}

func TestAnEmptyStoreIsRecovered(t *testing.T) {
	owner := box("parent", "p")
	withOwners := box("owned", "3", func(box *modelv1.ModelBox) {
		box.Finalizers = []string{"example.com/backup", metav1.FinalizerOrphanDependents}
		box.OwnerReferences = []metav1.OwnerReference{
			{APIVersion: "model.github.com/v1", Kind: "ModelBox", Name: "parent", UID: "p"},
			{APIVersion: "model.github.com/v1", Kind: "ModelBox", Name: "gone", UID: "g"},
			{APIVersion: "v1", Kind: "ConfigMap", Name: "settings", UID: "c"},
		}
	})
	ending := ptr.To(metav1.NewTime(time.Unix(1_700_000_000, 0)))
	foreigner := deploymentOf(t, box("foreigner", "6"), func(child *metav1.PartialObjectMetadata) { child.OwnerReferences[0].APIVersion = "example.com/v1" })
	f := newFixture(t,
		deploymentOf(t, withOwners), deploymentOf(t, owner),
		deploymentOf(t, box("web", "1", atGeneration(4))),
		deploymentOf(t, box("ending", "4"), func(child *metav1.PartialObjectMetadata) { child.DeletionTimestamp = ending }),
		deploymentOf(t, box("orphaned", "5"), func(child *metav1.PartialObjectMetadata) { child.OwnerReferences = nil }),
		foreigner,
	)
	f.setLease(earlier)
	position := f.serve(Empty)

	stored := f.stored()
	expectNames(t, stored, "owned", "parent", "web")
	web := stored["web"]
	want := box("web", "1", atGeneration(4))
	if web.UID != "1" || web.Generation != 4 || !web.CreationTimestamp.Equal(&want.CreationTimestamp) || web.Spec.Image != "nginx:4" {
		t.Errorf("the restored box differs: %v", web)
	}
	if order, err := resourceversion.CompareResourceVersion(web.ResourceVersion, strconv.FormatInt(earlier.Revision, 10)); err != nil || order <= 0 {
		t.Errorf("the box has resource version %s, and clients may have seen versions up to %d (%v)", web.ResourceVersion, earlier.Revision, err)
	}
	if diff := cmp.Diff(want.Labels, web.Labels); diff != "" {
		t.Errorf("labels: -want +got:\n%s", diff)
	}
	owned := stored["owned"]
	var owners []string
	for _, owner := range owned.OwnerReferences {
		owners = append(owners, owner.Name)
	}
	if diff := cmp.Diff([]string{"parent", "settings"}, owners); diff != "" {
		t.Errorf("owners: -want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"example.com/backup"}, owned.Finalizers); diff != "" {
		t.Errorf("finalizers: -want +got:\n%s", diff)
	}
	if position.Revision <= earlier.Revision+revisionMargin {
		t.Errorf("the revision is %d, which clients may have seen", position.Revision)
	}
	mark := mustMark(t, f.lease())
	if diff := cmp.Diff([]types.UID{"lost", "before"}, mark.Ancestors); diff != "" {
		t.Errorf("ancestors: -want +got:\n%s", diff)
	}
	if mark.Store != position.Identity.UID || mark.Store == "lost" {
		t.Errorf("the Lease names store %s, want %s", mark.Store, position.Identity.UID)
	}
	f.serve(Current)
}

func TestAStoreThatIsBehindIsBroughtUpToDate(t *testing.T) {
	f := newFixture(t,
		deploymentOf(t, box("changed", "1", atGeneration(2))),
		deploymentOf(t, box("created", "2")),
		deploymentOf(t, box("renewed", "new")),
		deploymentOf(t, box("agreed", "3")),
		deploymentOf(t, box("newer", "4")),
		childOf(box("exposed", "6"), "v1", "Service"),
		childOf(box("configured", "8"), "v1", "ConfigMap"),
		childOf(box("outward", "9"), "networking.k8s.io/v1", "Ingress"),
		childOf(box("autoscaled", "10"), "autoscaling/v2", "HorizontalPodAutoscaler"),
		childOf(box("budgeted", "11"), "policy/v1", "PodDisruptionBudget"),
	)
	f.put(box("changed", "1"), box("renewed", "old"), box("agreed", "3"), box("newer", "4", atGeneration(5)),
		box("deleted", "5"), box("exposed", "6"), box("configured", "8"), box("outward", "9"), box("autoscaled", "10"), box("budgeted", "11"),
		box("waiting", "7", func(box *modelv1.ModelBox) { box.Status.Conditions = nil }))
	own := f.serve(Current)
	own.Revision += 1000
	f.setLease(own)
	position := f.serve(Behind)

	stored := f.stored()
	expectNames(t, stored, "agreed", "autoscaled", "budgeted", "changed", "configured", "created", "exposed", "newer", "outward", "renewed", "waiting")
	for name, want := range map[string]int64{"changed": 2, "newer": 5, "agreed": 1} {
		if got := stored[name].Generation; got != want {
			t.Errorf("box %s has generation %d, want %d", name, got, want)
		}
	}
	if got := stored["renewed"].UID; got != "new" {
		t.Errorf("box renewed is %s", got)
	}
	// The former values of changed, renewed and deleted are kept.
	if got := f.replaced(t.Context()); got != 3 {
		t.Errorf("the store has %d copies of replaced boxes", got)
	}
	if position.Identity.UID == own.Identity.UID || position.Identity.Recovery != nil {
		t.Errorf("the identity is %v", position.Identity)
	}
}

func TestAForeignStoreKeepsItsBoxes(t *testing.T) {
	f := newFixture(t, deploymentOf(t, box("web", "1")))
	f.put(box("stranger", "s"), box("web", "x"))
	f.setLease(earlier)
	f.serve(Foreign)
	stored := f.stored()
	expectNames(t, stored, "stranger", "web")
	if got := stored["web"].UID; got != "1" {
		t.Errorf("the box is %s, want the box of the running workload", got)
	}
}

// A recovery that is interrupted after it raised the revision past the revision on the Lease must not look like a complete one.
func TestARecoveryThatDidNotEndIsDoneAgain(t *testing.T) {
	f := newFixture(t, deploymentOf(t, box("web", "1")))
	own := f.serve(Empty)
	if _, err := f.store.setIdentity(t.Context(), own, Identity{UID: own.Identity.UID, Recovery: &Recovery{Situation: Behind}}); err != nil {
		t.Fatal(err)
	}
	f.put(box("deleted", "2"))
	f.serve(Behind)
	expectNames(t, f.stored(), "web")
	f.serve(Current)
}

// A large difference of revisions is raised while the etcd is not running.
func TestExclusiveStoreThatIsFarBehindIsRaisedByTheNextStart(t *testing.T) {
	f := newFixture(t, deploymentOf(t, box("web", "1")))
	f.setLease(Position{Identity: earlier.Identity, Revision: 5_000_000})
	expectRefused(t, f, strconv.FormatInt(5_000_000+revisionMargin, 10))
	var raise *RaiseRevisionError
	if !errors.As(f.failed, &raise) || raise.To != 5_000_000+revisionMargin {
		t.Errorf("the server stops with %v", f.failed)
	}
	expectNames(t, f.stored())
}

// Writes would take days to raise the revision, and the server cannot stop an external etcd.
func TestExternalEtcdThatIsTooFarBehindKeepsItsRevision(t *testing.T) {
	for _, row := range []struct {
		policy Policy
		stored []string
	}{{Recover, []string{"web"}}, {Ignore, nil}} {
		t.Run(string(row.policy), func(t *testing.T) {
			f := newFixture(t, deploymentOf(t, box("web", "1")))
			f.config.Policy, f.config.IsExclusive = row.policy, false
			f.setLease(Position{Identity: earlier.Identity, Revision: 1_000_000_000})
			served := f.serve(Empty)
			if served.Revision > 1_000_000 {
				t.Errorf("the revision was raised to %d", served.Revision)
			}
			expectNames(t, f.stored(), row.stored...)
			f.serve(Current)
		})
	}
}

func TestPolicyRefuseReportsTheDifferencesAndRecoversNothing(t *testing.T) {
	f := newFixture(t, deploymentOf(t, box("web", "1")), deploymentOf(t, box("mail", "3")), childOf(box("old", "2"), "apps/v1", "Deployment"))
	f.config.Policy = Refuse
	f.setLease(earlier)
	expectRefused(t, f, "Empty", `store "lost" at revision 500`, "and has 0 boxes, 0 stacks and 0 networks", "has 2 children with a readable record of a box, a stack or a network, and 1 children without", "--store-recovery=recover")
	expectNames(t, f.stored())
}

func TestPolicyIgnoreServesTheStoreWithoutRecovery(t *testing.T) {
	f := newFixture(t, deploymentOf(t, box("web", "1")))
	f.config.Policy = Ignore
	f.setLease(earlier)
	f.serve(Empty)
	expectNames(t, f.stored())
	f.serve(Current)
}

func TestApplicationsWhoseBoxesAreLostAreNotDeleted(t *testing.T) {
	f := newFixture(t, deploymentOf(t, box("web", "1")), childOf(box("old", "2"), "apps/v1", "Deployment"),
		deploymentOf(t, box("stolen", "3"), func(child *metav1.PartialObjectMetadata) { child.OwnerReferences[0].UID = "9" }))
	f.setLease(earlier)
	expectAbsent(t, f, Empty, AbsentOwner{"modelboxes", testNamespace, "old", "2"}, AbsentOwner{"modelboxes", testNamespace, "stolen", "9"})
	expectNames(t, f.stored(), "web")
	// The absent owners persist over a restart.
	expectAbsent(t, f, Current, AbsentOwner{"modelboxes", testNamespace, "old", "2"}, AbsentOwner{"modelboxes", testNamespace, "stolen", "9"})
	f.config.Policy = Ignore
	expectAbsent(t, f, Current)
	f.config.Policy = Recover
	expectAbsent(t, f, Current)
}

// Servers that share an etcd do not recover it concurrently, and not again after one server has.
func TestSeveralServersRecoverOnce(t *testing.T) {
	const servers = 3
	f := newFixture(t, deploymentOf(t, box("web", "1")))
	f.config.IsExclusive = false
	f.setLease(earlier)
	positions := make([]Position, servers)
	var running sync.WaitGroup
	for server := range servers {
		running.Go(func() {
			for t.Context().Err() == nil {
				a := &attempt{Runner: NewRunner(f.config, nil), store: f.store, contents: f.contents}
				position, err := a.run(t.Context())
				if err == nil {
					positions[server] = position
					return
				}
				time.Sleep(time.Millisecond)
			}
		})
	}
	running.Wait()
	for _, position := range positions {
		if position.Identity.UID == "" || position.Identity.UID != positions[0].Identity.UID {
			t.Errorf("the servers serve from %v", positions)
		}
	}
	if got := len(positions[0].Identity.Ancestors); got != 2 {
		t.Errorf("the store was recovered more than once: %v", positions[0])
	}
	expectNames(t, f.stored(), "web")
}

func TestCopyIsNotServedWhileTheHolderOfTheLeaseMayBeAlive(t *testing.T) {
	f := newFixture(t)
	own := f.serve(New)
	lease := f.lease()
	hold := func(holder string) {
		lease.Spec.HolderIdentity, lease.Spec.LeaseDurationSeconds = &holder, ptr.To[int32](3600)
		lease.Spec.RenewTime = ptr.To(metav1.NowMicro())
		f.writeLease(lease)
	}
	hold("original")
	expectRefused(t, f, "server original", "may be alive")
	hold("one")
	f.serve(Current)

	// A store that is Behind is no restart of the same server, even if the holder has the same name.
	own.Revision += 100
	setMark(lease, own)
	hold("one")
	expectRefused(t, f, "Behind", "may be alive")

	f.config.IsExclusive = false
	lease = f.setLease(Position{Identity: own.Identity, Revision: 1})
	hold("another replica")
	f.serve(Current)
}

func TestStoreIsNotServedWhenTheLeaseCannotBeRead(t *testing.T) {
	f := newFixture(t)
	f.cluster.PrependReactor("get", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "leases"}, "modelbox-controller", nil)
	})
	expectRefused(t, f, "getting Lease modelbox-system/modelbox-controller", "forbidden")
	// Without leader election there is no Lease.
	f.config.Lease = types.NamespacedName{}
	f.serve(New)
}

func TestOneServerAtATimeRecoversASharedStore(t *testing.T) {
	for _, isExclusive := range []bool{true, false} {
		t.Run(fmt.Sprintf("exclusive: %t", isExclusive), func(t *testing.T) {
			f := newFixture(t, deploymentOf(t, box("web", "1")))
			f.config.IsExclusive = isExclusive
			f.setLease(earlier)
			session, err := concurrency.NewSession(f.store.client)
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			lock := concurrency.NewMutex(session, f.store.key("lock"))
			if err := lock.Lock(t.Context()); err != nil {
				t.Fatal(err)
			}
			if !isExclusive {
				expectRefused(t, f, "another server is recovering the store")
				expectNames(t, f.stored())
				if err := lock.Unlock(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			// An exclusive store needs no lock. A former process may have left one.
			f.serve(Empty)
			expectNames(t, f.stored(), "web")
		})
	}
}

// Another server can get the lock, and two servers would recover the store at the same time.
func TestARecoveryEndsWhenItsLockIsLost(t *testing.T) {
	f := newFixture(t, deploymentOf(t, box("web", "1")))
	f.config.IsExclusive = false
	f.setLease(earlier)
	var lose sync.Once
	f.hookRequests(func(ctx context.Context, verb, key string) error {
		if verb != "put" || !strings.HasSuffix(key, "/revision") {
			return nil
		}
		lose.Do(func() { _ = f.store.client.Lease.Close() }) // the session does not renew the lease of its lock
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lockPatience):
			return errors.New("the recovery continues without its lock")
		}
	})
	expectRefused(t, f, "the lock of the store was lost")
	expectNames(t, f.stored())
	if got := mustMark(t, f.lease()).Store; got != earlier.Identity.UID {
		t.Errorf("the Lease names store %s", got)
	}
}

// The recovery that was interrupted may have a later mark than the Lease, which a user can delete.
func TestLatestMark(t *testing.T) {
	for _, row := range []struct {
		name  string
		begun *Recovery
		lease int64
		want  types.UID
	}{
		{"no recovery has begun", nil, 5, "lease"},
		{"a recovery has begun, and the Lease was deleted", &Recovery{Mark: Mark{Store: "begun", Revision: 5}}, 0, "begun"},
		{"a recovery has begun, and the Lease has an earlier revision", &Recovery{Mark: Mark{Store: "begun", Revision: 5}}, 4, "begun"},
		{"a recovery has begun, and the Lease has the same revision", &Recovery{Mark: Mark{Store: "begun", Revision: 5}}, 5, "begun"},
		{"a recovery has begun, and the Lease has a later revision", &Recovery{Mark: Mark{Store: "begun", Revision: 5}}, 6, "lease"},
	} {
		a := &attempt{position: Position{Identity: Identity{Recovery: row.begun}}, mark: Mark{Store: "lease", Revision: row.lease}}
		if got := a.latestMark().Store; got != row.want {
			t.Errorf("%s: got the mark of the %s, want of the %s", row.name, got, row.want)
		}
	}
}

// A server on the former store would otherwise renew the Lease.
func TestLeaseOfAnotherStoreIsReleased(t *testing.T) {
	for _, row := range []struct {
		name      string
		mark      Position
		situation Situation
		holder    string
	}{
		{"the Lease names a lost store", earlier, Empty, ""},
		{"the Lease names no store", Position{}, New, "former"},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newFixture(t)
			lease := f.setLease(row.mark)
			lease.Spec.HolderIdentity = ptr.To("former")
			f.writeLease(lease)
			position := f.serve(row.situation)
			got := f.lease()
			if mustMark(t, got).Store != position.Identity.UID || *got.Spec.HolderIdentity != row.holder {
				t.Errorf("the Lease has the labels %v and the holder %q, want %q", got.Labels, *got.Spec.HolderIdentity, row.holder)
			}
		})
	}
}

// After a restart, the server would answer that the owners do not exist.
func TestAbsentOwnersAreStoredBeforeTheStoreIsServed(t *testing.T) {
	f := newFixture(t, childOf(box("old", "2"), "apps/v1", "Deployment"))
	f.setLease(earlier)
	isFull := true
	f.hookRequests(func(_ context.Context, verb, key string) error {
		if isFull && verb == "txn" && key == f.store.absentOwnersKey() {
			return errors.New("the store is full")
		}
		return nil
	})
	expectRefused(t, f, "writing the absent owners of the store: the store is full")
	isFull = false
	old := AbsentOwner{"modelboxes", testNamespace, "old", "2"}
	expectAbsent(t, f, Empty, old)
	isFull = true
	f.config.Policy = Ignore
	expectRefused(t, f, "the store is full")
	f.config.Policy = Recover
	expectAbsent(t, f, Current, old)
}

func TestLostOwnersAreReported(t *testing.T) {
	const message = "Some children have owners that are not in the store"
	for _, row := range []struct {
		name  string
		child runtime.Object
		want  bool
	}{
		{"with a record", deploymentOf(t, box("web", "1")), false},
		{"without a record", childOf(box("web", "1"), "apps/v1", "Deployment"), true},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newFixture(t, row.child)
			ctx, logs := withLogs(t, t.Context())
			a := &attempt{Runner: NewRunner(f.config, nil), store: f.store, contents: f.contents}
			if _, err := a.run(ctx); err != nil {
				t.Fatal(err)
			}
			if got := slices.ContainsFunc(logs(), func(got string) bool { return strings.HasPrefix(got, message) }); got != row.want {
				t.Errorf("lost owners are reported: %t", got)
			}
		})
	}
}
