// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modelstackrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelstack"
)

// another is the mark of another store, without a revision.
var another = Position{Identity: Identity{UID: "another"}}

// stack returns a stack whose condition Applied is True.
func stack(name string, uid types.UID, changes ...func(*modelv1.ModelStack)) *modelv1.ModelStack {
	stack := &modelv1.ModelStack{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: testNamespace, Name: name, UID: uid, Generation: 1,
			CreationTimestamp: metav1.NewTime(time.Unix(1_700_000_000, 0)),
			Labels:            map[string]string{"example.com/applied-by": "gitops"},
			Finalizers:        []string{modelv1.OrderedDeletionFinalizer},
		},
		Spec: modelv1.ModelStackSpec{Components: []modelv1.ModelStackComponent{{Name: "web", Box: &modelv1.ModelBoxSpec{Image: "nginx:1"}}}},
	}
	stack.Status.Conditions = []metav1.Condition{{Type: modelv1.ConditionApplied, Status: metav1.ConditionTrue, LastTransitionTime: metav1.Now()}}
	modelv1.SetObjectDefaults_ModelStack(stack)
	for _, change := range changes {
		change(stack)
	}
	return stack
}

// atStackGeneration returns a change of a stack to a later generation.
func atStackGeneration(generation int64) func(*modelv1.ModelStack) {
	return func(stack *modelv1.ModelStack) {
		stack.Generation = generation
		stack.Spec.Components[0].Box.Image = fmt.Sprintf("nginx:%d", generation)
	}
}

// createdAt returns a change of the creation time of a stack to some seconds later.
func createdAt(second int64) func(*modelv1.ModelStack) {
	return func(stack *modelv1.ModelStack) {
		stack.CreationTimestamp = metav1.NewTime(time.Unix(1_700_000_000+second, 0))
	}
}

// revisionOf returns the ControllerRevision with the record of a stack.
func revisionOf(t *testing.T, stack *modelv1.ModelStack, changes ...func(*appsv1.ControllerRevision)) *appsv1.ControllerRevision {
	t.Helper()
	rendered, err := modelstackrender.Record(stack)
	if err != nil {
		t.Fatal(err)
	}
	revision := &appsv1.ControllerRevision{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(rendered.Object, revision); err != nil {
		t.Fatal(err)
	}
	for _, change := range changes {
		change(revision)
	}
	return revision
}

// putStacks stores stacks directly.
func (f *fixture) putStacks(stacks ...*modelv1.ModelStack) {
	f.t.Helper()
	for _, stack := range stacks {
		stored, err := newStack(stack)
		if err != nil {
			f.t.Fatal(err)
		}
		if meta.IsStatusConditionTrue(stack.Status.Conditions, modelv1.ConditionApplied) {
			stored.Status.Conditions = stack.Status.Conditions
		}
		if err := f.stacks.create(f.t.Context(), stored); err != nil {
			f.t.Fatal(err)
		}
	}
}

// storedStacks returns the stacks in the store by name.
func (f *fixture) storedStacks() map[string]model.ModelStack {
	f.t.Helper()
	list := &model.ModelStackList{}
	if err := f.stacks.storage.GetList(f.t.Context(), f.stacks.prefix+"/", storage.ListOptions{Predicate: storage.Everything, Recursive: true}, list); err != nil {
		f.t.Fatal(err)
	}
	stored := map[string]model.ModelStack{}
	for _, stack := range list.Items {
		stored[stack.Name] = stack
	}
	return stored
}

// ownedBy returns a change that makes a stack the controller of an object.
func ownedBy[T metav1.Object](stack *modelv1.ModelStack) func(T) {
	return func(owned T) {
		owned.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "model.github.com/v1", Kind: "ModelStack", Name: stack.Name, UID: stack.UID, Controller: ptr.To(true)}})
	}
}

// boxOf returns a box that a stack controls.
func boxOf(stack *modelv1.ModelStack, name string, uid types.UID, changes ...func(*modelv1.ModelBox)) *modelv1.ModelBox {
	return box(name, uid, append([]func(*modelv1.ModelBox){ownedBy[*modelv1.ModelBox](stack)}, changes...)...)
}

// externalChild returns a child of a stack for an external component.
func externalChild(stack *modelv1.ModelStack, apiVersion, kind string) *metav1.PartialObjectMetadata {
	child := childOf(box("mail", ""), apiVersion, kind)
	child.Labels[modelv1.StackLabel] = stack.Name
	ownedBy[*metav1.PartialObjectMetadata](stack)(child)
	return child
}

func expectOwners(t *testing.T, box model.ModelBox, want ...types.UID) {
	t.Helper()
	var got []types.UID
	for _, owner := range box.OwnerReferences {
		got = append(got, owner.UID)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("owners of box %s: -want +got:\n%s", box.Name, diff)
	}
}

func TestStacksAndTheirBoxesAreRecovered(t *testing.T) {
	shop := stack("shop", "shop-uid", atStackGeneration(4))
	f := newFixture(t,
		revisionOf(t, shop),
		deploymentOf(t, boxOf(shop, "web", "web-uid")),
		externalChild(shop, "v1", "Service"), externalChild(shop, "discovery.k8s.io/v1", "EndpointSlice"),
		revisionOf(t, stack("orphaned", "orphaned-uid"), func(revision *appsv1.ControllerRevision) { revision.OwnerReferences = nil }),
		revisionOf(t, stack("ending", "ending-uid"), func(revision *appsv1.ControllerRevision) {
			revision.DeletionTimestamp, revision.Finalizers = ptr.To(metav1.Now()), []string{"example.com/wait"}
		}),
	)
	f.serve(Empty)

	stored := f.storedStacks()
	expectNames(t, stored, "shop")
	got := stored["shop"]
	want, err := newStack(shop)
	if err != nil {
		t.Fatal(err)
	}
	got.ResourceVersion, got.Status, want.Status = "", model.ModelStackStatus{}, model.ModelStackStatus{}
	if diff := cmp.Diff(*want, got); diff != "" {
		t.Errorf("the stack: -want +got:\n%s", diff)
	}
	expectOwners(t, f.stored()["web"], "shop-uid")
	f.serve(Current)
}

// The garbage collector would delete a box that still has a lost stack as its owner.
func TestRecoveredBoxBelongsToItsStackIfThereIsOne(t *testing.T) {
	shop := stack("shop", "shop-uid")
	for _, row := range []struct {
		name             string
		stored, recorded *modelv1.ModelStack
		want             []types.UID
	}{
		{"the stack is stored", shop, nil, []types.UID{"shop-uid"}},
		{"the stack is recorded", nil, shop, []types.UID{"shop-uid"}},
		{"the stack was lost", nil, nil, nil},
		{"another stack of the name is stored", stack("shop", "other-uid"), nil, nil},
		{"a later stack of the name is recorded", shop, stack("shop", "other-uid", createdAt(1)), nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			children := []runtime.Object{deploymentOf(t, boxOf(shop, "web", "web-uid"))}
			if row.recorded != nil {
				children = append(children, revisionOf(t, row.recorded))
			}
			f := newFixture(t, children...)
			situation := Empty
			if row.stored != nil {
				f.putStacks(row.stored)
				situation = Foreign
			}
			f.setLease(another)
			f.serve(situation)
			expectOwners(t, f.stored()["web"], row.want...)
		})
	}
}

func TestAStoreOfStacksThatIsBehindIsBroughtUpToDate(t *testing.T) {
	changed, agreed, created := stack("changed", "1"), stack("agreed", "2"), stack("created", "3")
	outside, boxed, emptied := stack("outside", "4"), stack("boxed", "5"), stack("emptied", "6")
	f := newFixture(t,
		revisionOf(t, stack("changed", "1", atStackGeneration(2))), revisionOf(t, agreed), revisionOf(t, created),
		revisionOf(t, stack("renewed", "new", createdAt(1))),
		revisionOf(t, stack("newer", "7")),
		externalChild(outside, "v1", "Service"),
		deploymentOf(t, boxOf(boxed, "web", "web-uid")),
		deploymentOf(t, boxOf(created, "api", "api-uid")),
	)
	f.putStacks(changed, agreed, outside, boxed, emptied, stack("renewed", "old"), stack("newer", "7", atStackGeneration(5)),
		stack("waiting", "8", func(stack *modelv1.ModelStack) { stack.Status.Conditions = nil }),
		stack("deleted", "9"))
	f.put(boxOf(boxed, "web", "web-uid"), boxOf(emptied, "gone", "gone-uid"),
		boxOf(stack("renewed", "old"), "paused", "paused-uid", func(box *modelv1.ModelBox) { box.Status.Conditions = nil }))
	own := f.serve(Current)
	f.setLease(Position{Identity: Identity{UID: "later", Ancestors: []types.UID{own.Identity.UID}}})
	f.serve(Behind)

	stored := f.storedStacks()
	expectNames(t, stored, "agreed", "boxed", "changed", "created", "newer", "outside", "renewed", "waiting")
	for name, want := range map[string]int64{"changed": 2, "newer": 5, "agreed": 1} {
		if got := stored[name].Generation; got != want {
			t.Errorf("stack %s has generation %d, want %d", name, got, want)
		}
	}
	if got := stored["renewed"].UID; got != "new" {
		t.Errorf("stack renewed is %s", got)
	}
	boxes := f.stored()
	expectNames(t, boxes, "api", "paused", "web")
	expectOwners(t, boxes["web"], "5")
	expectOwners(t, boxes["api"], "3")
	// The former stack of the box was replaced.
	expectOwners(t, boxes["paused"])
}

func TestAForeignStoreKeepsItsStacks(t *testing.T) {
	shop := stack("shop", "shop-uid")
	f := newFixture(t, revisionOf(t, shop), deploymentOf(t, boxOf(shop, "web", "web-uid")))
	stranger, replaced := stack("stranger", "stranger-uid"), stack("shop", "other-uid", createdAt(5))
	f.putStacks(stranger, replaced)
	f.put(boxOf(stranger, "theirs", "theirs-uid"), boxOf(replaced, "left", "left-uid"))
	f.setLease(another)
	f.serve(Foreign)
	stacks, boxes := f.storedStacks(), f.stored()
	expectNames(t, stacks, "shop", "stranger")
	if got := stacks["shop"].UID; got != "shop-uid" {
		t.Errorf("the stack is %s, want the stack of the running boxes", got)
	}
	expectNames(t, boxes, "left", "theirs", "web")
	expectOwners(t, boxes["web"], "shop-uid")
	expectOwners(t, boxes["theirs"], "stranger-uid")
	expectOwners(t, boxes["left"])
}

// A stack has two records for a moment. A former stack of the same name may also have left a record.
func TestOfTwoRecordsOfAStackTheLaterCounts(t *testing.T) {
	at := func(second int64) func(*appsv1.ControllerRevision) {
		return func(revision *appsv1.ControllerRevision) {
			revision.CreationTimestamp = metav1.NewTime(time.Unix(1_700_000_000+second, 0))
		}
	}
	labelled := func(team string) func(*modelv1.ModelStack) {
		return func(stack *modelv1.ModelStack) { stack.Labels = map[string]string{"team": team} }
	}
	owned := func(stack *modelv1.ModelStack) {
		stack.OwnerReferences = []metav1.OwnerReference{{APIVersion: "model.github.com/v1", Kind: "ModelBox", Name: "parent", UID: "p"}}
	}
	for _, row := range []struct {
		name            string
		earlier, later  *appsv1.ControllerRevision
		wantUID         types.UID
		wantLabel       string
		wantsGeneration int64
	}{
		{"another generation", revisionOf(t, stack("shop", "1", labelled("a"))), revisionOf(t, stack("shop", "1", labelled("b"), atStackGeneration(2))), "1", "b", 2},
		{"another label", revisionOf(t, stack("shop", "1", labelled("a")), at(0)), revisionOf(t, stack("shop", "1", labelled("b")), at(1)), "1", "b", 1},
		{"another stack", revisionOf(t, stack("shop", "1", labelled("a"))), revisionOf(t, stack("shop", "2", labelled("b"), createdAt(1))), "2", "b", 1},
		{"another label of a stack that has an owner", revisionOf(t, stack("shop", "1", labelled("a"), owned), at(0)), revisionOf(t, stack("shop", "1", labelled("b"), owned), at(1)), "1", "b", 1},
	} {
		for _, order := range []string{"the earlier is listed first", "the later is listed first"} {
			t.Run(row.name+" where "+order, func(t *testing.T) {
				revisions := []runtime.Object{row.earlier.DeepCopy(), row.later.DeepCopy()}
				if order == "the later is listed first" {
					slices.Reverse(revisions)
				}
				for i, revision := range revisions {
					revision.(*appsv1.ControllerRevision).Name = fmt.Sprintf("shop.modelstack.%d", i)
				}
				f := newFixture(t, revisions...)
				f.serve(Empty)
				got := f.storedStacks()["shop"]
				if got.UID != row.wantUID || got.Labels["team"] != row.wantLabel || got.Generation != row.wantsGeneration {
					t.Errorf("the stack is %s at generation %d of team %s", got.UID, got.Generation, got.Labels["team"])
				}
			})
		}
	}
}

func TestChildrenOfLostStacksAreNotDeleted(t *testing.T) {
	shop := stack("shop", "shop-uid")
	unreadable := revisionOf(t, shop, func(revision *appsv1.ControllerRevision) { revision.Data.Raw = []byte(`{"record":"?"}`) })
	stolen := revisionOf(t, shop, func(revision *appsv1.ControllerRevision) {
		revision.OwnerReferences[0].Name, revision.OwnerReferences[0].UID = "other", "9"
	})
	for _, row := range []struct {
		name  string
		child runtime.Object
		want  AbsentOwner
	}{
		{"a Service", externalChild(shop, "v1", "Service"), AbsentOwner{"modelstacks", testNamespace, "shop", "shop-uid"}},
		{"an EndpointSlice", externalChild(shop, "discovery.k8s.io/v1", "EndpointSlice"), AbsentOwner{"modelstacks", testNamespace, "shop", "shop-uid"}},
		{"a record that cannot be read", unreadable, AbsentOwner{"modelstacks", testNamespace, "shop", "shop-uid"}},
		{"a record of another stack", stolen, AbsentOwner{"modelstacks", testNamespace, "other", "9"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newFixture(t, row.child)
			f.setLease(another)
			expectAbsent(t, f, Empty, row.want)
			// The stacks are in a snapshot that is restored.
			f.putStacks(shop, stack("other", "9"))
			f.expectStillAbsent()
		})
	}
}

// A store that has stacks and no boxes is not Empty.
func TestStacksWithoutBoxesAreAStore(t *testing.T) {
	shop := stack("shop", "shop-uid")
	for _, row := range []struct {
		name     string
		children []runtime.Object
		stored   []*modelv1.ModelStack
		mark     *Position
		want     Situation
	}{
		{"stored while the Lease names no store", nil, []*modelv1.ModelStack{shop}, nil, Current},
		{"stored while the Lease names another store", nil, []*modelv1.ModelStack{shop}, &another, Foreign},
		{"recorded while the Lease names no store", []runtime.Object{revisionOf(t, shop)}, nil, nil, Empty},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newFixture(t, row.children...)
			f.putStacks(row.stored...)
			if row.mark != nil {
				f.setLease(*row.mark)
			}
			f.serve(row.want)
			expectNames(t, f.storedStacks(), "shop")
		})
	}
}
