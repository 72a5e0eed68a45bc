// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func boxNames(stack *model.ModelStack) map[string]string {
	names := map[string]string{}
	for i := range stack.Spec.Components {
		names[stack.Spec.Components[i].Name] = stack.Spec.Components[i].BoxName
	}
	return names
}

func TestPrepareForCreate(t *testing.T) {
	stack := newStack(t, components, func(stack *model.ModelStack) {
		stack.Status = model.ModelStackStatus{ReadyComponents: 4, Conditions: []metav1.Condition{{Type: "Ready", Status: "True"}}}
	})
	newStrategy().PrepareForCreate(t.Context(), stack)
	if stack.Generation != 1 || stack.Status.ReadyComponents != 0 || len(stack.Status.Conditions) != 1 || stack.Status.Conditions[0].Reason != modelv1.ReasonPending {
		t.Errorf("generation %d, status %+v", stack.Generation, stack.Status)
	}
	want := map[string]string{"db": "mysql", "auth": "auth", "api": "shop-api", "worker": "shop-worker"}
	if diff := cmp.Diff(want, boxNames(stack)); diff != "" {
		t.Errorf("names of boxes, -want +got:\n%s", diff)
	}
}

// The name of a stack may be generated after defaults are set.
func TestBoxesOfAStackWithAGeneratedName(t *testing.T) {
	stack := newStack(t, components, func(stack *model.ModelStack) {
		stack.Name, stack.GenerateName, stack.UID, stack.ResourceVersion = "shop-x7k2p", "shop-", "", ""
		for i := range stack.Spec.Components {
			stack.Spec.Components[i].BoxName = ""
		}
		rest.FillObjectMetaSystemFields(stack)
	})
	ctx := genericapirequest.WithNamespace(t.Context(), metav1.NamespaceDefault)
	if err := rest.BeforeCreate(newStrategy(), ctx, stack); err != nil {
		t.Fatal(err)
	}
	if got := boxNames(stack)["api"]; got != "shop-x7k2p-api" {
		t.Errorf("the box is named %s", got)
	}
}

func TestNamesOfBoxesAfterAnUpdate(t *testing.T) {
	for _, row := range []struct {
		name       string
		components string
		want       map[string]string
	}{
		{"a name that is left out stays", `[{name: db, box: {image: "mysql:8.0"}}]`, map[string]string{"db": "mysql"}},
		{"a name that is given is another one", `[{name: db, boxName: mariadb, box: {image: "mysql:8.0"}}]`, map[string]string{"db": "mariadb"}},
		{"a box that goes outside keeps its name", "[{name: db, external: {host: db.example.com, port: 3306}}]", map[string]string{"db": "mysql"}},
		{"what comes from outside keeps its name", `[{name: auth, box: {image: "auth:1"}}]`, map[string]string{"auth": "auth"}},
		{"a new component gets one", `[{name: web, box: {image: "nginx:1.7.9"}}]`, map[string]string{"web": "shop-web"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			given := map[string]bool{"mariadb": true}
			stack := newStack(t, row.components, func(stack *model.ModelStack) {
				for i := range stack.Spec.Components {
					if component := &stack.Spec.Components[i]; !given[component.BoxName] {
						component.BoxName = ""
					}
				}
			})
			newStrategy().PrepareForUpdate(t.Context(), stack, newStack(t, components))
			if diff := cmp.Diff(row.want, boxNames(stack)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestPrepareForUpdateCountsChangesOfTheSpec(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*model.ModelStack)
		want   int64
	}{
		{"nothing", func(*model.ModelStack) {}, 3},
		{"a label", func(stack *model.ModelStack) { stack.Labels = map[string]string{"team": "shop"} }, 3},
		{"the status", func(stack *model.ModelStack) { stack.Status.ReadyComponents = 4 }, 3},
		{"names of boxes that are left out", func(stack *model.ModelStack) { stack.Spec.Components[0].BoxName = "" }, 3},
		{"an image", func(stack *model.ModelStack) { stack.Spec.Components[0].Box.Image = "mysql:9" }, 4},
		{"the order of a deletion", func(stack *model.ModelStack) { stack.Spec.Deletion = model.ComponentsParallel }, 4},
	} {
		t.Run(row.name, func(t *testing.T) {
			stack, old := newStack(t, components, row.change), newStack(t, components)
			newStrategy().PrepareForUpdate(t.Context(), stack, old)
			if stack.Generation != row.want {
				t.Errorf("generation %d, want %d", stack.Generation, row.want)
			}
			if diff := cmp.Diff(old.Status, stack.Status); diff != "" {
				t.Errorf("status, -want +got:\n%s", diff)
			}
		})
	}
}

// A stack must not wait for a controller that has nothing to do for it.
func TestFinalizerOfAnOrderedDeletion(t *testing.T) {
	const ordered, other = modelv1.OrderedDeletionFinalizer, "example.com/backup"
	with := func(isDeleted bool, deletion model.ComponentOrder, finalizers ...string) *model.ModelStack {
		return newStack(t, components, func(stack *model.ModelStack) {
			stack.Finalizers, stack.Spec.Deletion = finalizers, deletion
			if isDeleted {
				stack.DeletionTimestamp = ptr.To(metav1.Unix(1, 0))
			}
		})
	}
	for _, row := range []struct {
		name       string
		stack, old *model.ModelStack
		want       []string
	}{
		{"it stays", with(false, model.ComponentsOrdered, ordered, other), with(false, model.ComponentsOrdered, ordered, other), []string{ordered, other}},
		{"it stays during a deletion", with(true, model.ComponentsOrdered, ordered), with(true, model.ComponentsOrdered, ordered), []string{ordered}},
		{"none is added", with(false, model.ComponentsOrdered), with(false, model.ComponentsOrdered), nil},
		{"it goes with the order", with(false, model.ComponentsParallel, ordered, other), with(false, model.ComponentsOrdered, ordered, other), []string{other}},
		{"it goes with the order during a deletion", with(true, model.ComponentsParallel, ordered), with(true, model.ComponentsOrdered, ordered), []string{}},
		{"it stays until the components have been orphaned", with(true, model.ComponentsOrdered, ordered, "orphan"), with(true, model.ComponentsOrdered, ordered, "orphan"), []string{ordered, "orphan"}},
		{"it goes when the components have been orphaned", with(true, model.ComponentsOrdered, ordered, other), with(true, model.ComponentsOrdered, ordered, "orphan", other), []string{other}},
	} {
		t.Run(row.name, func(t *testing.T) {
			newStrategy().PrepareForUpdate(t.Context(), row.stack, row.old)
			if diff := cmp.Diff(row.want, row.stack.Finalizers); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestStatusUpdateLeavesTheRest(t *testing.T) {
	old := newStack(t, components)
	stack := newStack(t, components, func(stack *model.ModelStack) {
		stack.Labels, stack.Spec.Components = map[string]string{"team": "shop"}, nil
		stack.Status.ReadyComponents = 2
	})
	strategy := NewStatusStrategy(newStrategy())
	strategy.PrepareForUpdate(t.Context(), stack, old)
	want := newStack(t, components, func(stack *model.ModelStack) { stack.Status = old.Status; stack.Status.ReadyComponents = 2 })
	stack.Status.Conditions, want.Status.Conditions = nil, nil
	if diff := cmp.Diff(want, stack); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	stack.Status.Components = []model.ModelStackComponentStatus{{Name: "db", State: "Gone"}, {Name: "db", State: model.ComponentReady}}
	if diff := cmp.Diff([]string{"status.components[1]", "status.components[0].state"}, fieldsOf(strategy.ValidateUpdate(t.Context(), stack, old))); diff != "" {
		t.Errorf("errors, -want +got:\n%s", diff)
	}
}
