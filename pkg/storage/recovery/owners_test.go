// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// The garbage collector deletes a box whose owner does not exist, and its pods.
func TestABoxHasNoOwnerThatDoesNotExist(t *testing.T) {
	shop := stack("shop", "A")
	owned := boxOf(shop, "web", "1")
	type ownersOf map[string]types.UID
	for _, row := range []struct {
		name string
		// recorded is the box on the Deployment, and stack the stack in a record. Both are as the snapshot has them if they are not set.
		recorded *modelv1.ModelBox
		stack    *modelv1.ModelStack
		want     ownersOf
		stacks   []string
	}{
		{"the box is as before", owned, shop, ownersOf{"shop": "A"}, []string{"shop"}},
		// The record of a box can lack its owners because of its size. The store keeps its stack.
		{"the stack was deleted without its box", box("web", "1"), nil, ownersOf{"shop": "A"}, []string{"shop"}},
		{"the stack was replaced after its box had left it", box("web", "1"), stack("shop", "B", createdAt(1)), ownersOf{}, []string{"shop"}},
		{"the stack was replaced but its box was not", owned, stack("shop", "B", createdAt(1)), ownersOf{}, []string{"shop"}},
		{"the box has left the stack and has another owner", box("web", "1", func(box *modelv1.ModelBox) {
			box.OwnerReferences = []metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "App", Name: "app", UID: "app"}}
		}), nil, ownersOf{"app": "app"}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			children := []runtime.Object{deploymentOf(t, row.recorded)}
			if row.stack != nil {
				children = append(children, revisionOf(t, row.stack))
			}
			f := newFixture(t, children...)
			f.putStacks(shop)
			f.put(owned)
			f.behind()
			f.serve(Behind)
			expectNames(t, f.storedStacks(), row.stacks...)
			got := ownersOf{}
			for _, owner := range f.stored()["web"].OwnerReferences {
				got[owner.Name] = owner.UID
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("owners: -want +got:\n%s", diff)
			}
		})
	}
}

func TestABoxKeepsAStackThatCannotBeRead(t *testing.T) {
	shop := stack("shop", "A")
	for _, row := range []struct {
		name       string
		isStored   bool
		isRecorded bool
		owner      string
		want       int
	}{
		{"the box and the stack are recorded", false, true, "shop", 1},
		{"the box is stored and both are recorded", true, true, "shop", 1},
		{"the stack is not recorded", true, false, "shop", 1},
		{"the box has another stack", true, false, "other", 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			web := boxOf(stack(row.owner, "A"), "web", "1")
			children := []runtime.Object{deploymentOf(t, web)}
			if row.isRecorded {
				children = append(children, revisionOf(t, shop))
			}
			f := newFixture(t, children...)
			if row.isStored {
				f.put(web)
			}
			if _, err := f.store.client.Put(t.Context(), f.stacks.rawKey(types.NamespacedName{Namespace: testNamespace, Name: "shop"}), "no object"); err != nil {
				t.Fatal(err)
			}
			f.setLease(another)
			f.serve(Foreign)
			if got := len(f.stored()["web"].OwnerReferences); got != row.want {
				t.Errorf("the box has %d owners, want %d", got, row.want)
			}
		})
	}
}
