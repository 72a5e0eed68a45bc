// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package pairs

import (
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// TestEveryFieldOfBoxesIsChanged fails for a field of boxes without a change.
func TestEveryFieldOfBoxesIsChanged(t *testing.T) {
	t.Parallel()
	changed := sets.New[string]()
	for _, change := range changes {
		before, after := change.specs("box", "class")
		insertChanged(changed, before, after)
	}
	checkAllChanged[modelv1.ModelBoxSpec](t, changed, unchanged)
}

// TestEveryFieldOfStacksIsChanged fails for a field of stacks or of components without a change.
func TestEveryFieldOfStacksIsChanged(t *testing.T) {
	t.Parallel()
	ofStacks, ofComponents, ofExternals := sets.New[string](), sets.New[string](), sets.New[string]()
	for _, change := range stackChanges {
		before, after := change.specs("stack")
		insertChanged(ofStacks, before, after)
		for i := range before.Components {
			former := &before.Components[i]
			for j := range after.Components {
				component := &after.Components[j]
				if component.Name != former.Name {
					continue
				}
				insertChanged(ofComponents, *former, *component)
				if former.External != nil && component.External != nil {
					insertChanged(ofExternals, *former.External, *component.External)
				}
			}
		}
	}
	checkAllChanged[modelv1.ModelStackSpec](t, ofStacks, unchangedOfStacks)
	checkAllChanged[modelv1.ModelStackComponent](t, ofComponents, unchangedOfStacks)
	checkAllChanged[modelv1.ModelStackExternal](t, ofExternals, unchangedOfStacks)
}

// insertChanged adds the names of the fields that differ.
func insertChanged[T any](changed sets.Set[string], before, after T) {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		if !reflect.DeepEqual(reflect.ValueOf(before).FieldByIndex(field.Index).Interface(), reflect.ValueOf(after).FieldByIndex(field.Index).Interface()) {
			changed.Insert(field.Name)
		}
	}
}

// checkAllChanged fails for each field of the type that is neither changed nor exempt, or both.
func checkAllChanged[T any](t *testing.T, changed sets.Set[string], exempt map[string]string) {
	t.Helper()
	for _, field := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		if _, isExempt := exempt[field.Name]; isExempt == changed.Has(field.Name) {
			t.Errorf("%s.%s: it is in a change: %t, and exempt: %t", reflect.TypeFor[T]().Name(), field.Name, changed.Has(field.Name), isExempt)
		}
	}
}

// TestEveryChildComesAndGoes fails for a kind of children that no change creates, or that no change deletes.
func TestEveryChildComesAndGoes(t *testing.T) {
	t.Parallel()
	comes, goes := sets.New[schema.GroupVersionResource](), sets.New[schema.GroupVersionResource]()
	for _, change := range changes {
		before, after := change.specs("box", "class")
		former, wanted := resourcesOf(t, before), resourcesOf(t, after)
		comes, goes = comes.Union(wanted.Difference(former)), goes.Union(former.Difference(wanted))
	}
	if want := sets.New(childResources...); !comes.Equal(want) || !goes.Equal(want) {
		t.Errorf("children that come: %v\nchildren that go: %v\nwant both: %v", comes.UnsortedList(), goes.UnsortedList(), childResources)
	}
}

// resourcesOf returns the resources of the children of a box.
func resourcesOf(t *testing.T, spec modelv1.ModelBoxSpec) sets.Set[schema.GroupVersionResource] {
	t.Helper()
	box := &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Name: "box", Namespace: "default"}, Spec: spec}
	modelv1.SetObjectDefaults_ModelBox(box)
	children, err := modelboxrender.Children(box, modelboxrender.ScaledByBox)
	if err != nil {
		t.Fatal(err)
	}
	resources := sets.New[schema.GroupVersionResource]()
	for _, child := range children {
		resource, _ := meta.UnsafeGuessKindToResource(child.GroupVersionKind())
		resources.Insert(resource)
	}
	return resources
}

// TestSelections checks that a large selection of pairs has every change and every way, and that the short selection only leaves
// out ways that need a separate control plane.
func TestSelections(t *testing.T) {
	t.Parallel()
	tried := sets.New[string]()
	for _, ways := range [][]boxWay{ways, strikes} {
		for i := range ways {
			for _, p := range pairsOf(&ways[i], i, completePairs) {
				tried.Insert("way "+ways[i].name, "change of "+p.change.name)
			}
		}
	}
	for _, ways := range [][]stackWay{stackWays, stackStrikes} {
		for i := range ways {
			for _, p := range stackPairsOf(&ways[i], i, completePairs) {
				tried.Insert("way of stacks "+ways[i].name, "change of stacks "+p.change.name)
			}
		}
	}
	if want := len(changes) + len(ways) + len(strikes) + len(stackChanges) + len(stackWays) + len(stackStrikes); len(tried) != want {
		t.Errorf("%d of %d are tried: %q", len(tried), want, sets.List(tried))
	}
	for i := range ways {
		if len(pairsOf(&ways[i], i, shortPairs)) == 0 {
			t.Errorf("the short part has no change of boxes %s", ways[i].name)
		}
	}
	for i := range stackWays {
		if len(stackPairsOf(&stackWays[i], i, shortPairs)) == 0 {
			t.Errorf("the short part has no change of stacks %s", stackWays[i].name)
		}
	}
}
