// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
)

func TestChildrenOfEarlierReleasesNeedNoWrite(t *testing.T) {
	fixture.ForEachRelease(t, func(t *testing.T, release fixture.Release) {
		for _, stack := range fixture.Objects[*modelv1.ModelStack](t, release) {
			f := newTestController(t, stack)
			owned := release.Children(t, stack)
			for _, box := range fixture.Objects[*modelv1.ModelBox](t, release) {
				if metav1.IsControlledBy(box, stack) {
					owned = append(owned, box)
				}
			}
			for _, object := range owned {
				f.cacheChild(object.(children.Object))
			}
			check(t, "writes", []string(nil), f.reconcile())
			check(t, "writes of records", []string(nil), f.recordWrites)
		}
	})
}

// cacheChild lets the controller see a child as the informers keep it.
func (f *testController) cacheChild(child children.Object) {
	f.t.Helper()
	gvk := child.GetObjectKind().GroupVersionKind()
	i := slices.IndexFunc(f.kinds, func(kind *children.Kind) bool { return kind.GroupVersionKind.Kind == gvk.Kind })
	if i < 0 {
		f.t.Fatalf("the stack has a child of kind %q", gvk.Kind)
	}
	apply.Trim(child)
	if err := f.kinds[i].Informer.GetIndexer().Add(child); err != nil {
		f.t.Fatal(err)
	}
}
