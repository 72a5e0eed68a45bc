// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
)

func TestChildrenOfEarlierReleasesNeedNoWrite(t *testing.T) {
	fixture.ForEachRelease(t, func(t *testing.T, release fixture.Release) {
		for _, box := range fixture.Objects[*modelv1.ModelBox](t, release) {
			t.Run(box.Name, func(t *testing.T) {
				children := release.Children(t, box)
				f := newTestController(t, box, children...)
				for _, child := range children {
					trimmed, err := kinds.TrimChild(child.DeepCopyObject())
					if err != nil {
						t.Fatal(err)
					}
					f.cache(t, trimmed.(runtime.Object))
				}
				f.cluster.ClearActions()
				if _, err := f.ReconcileKey(t.Context(), types.NamespacedName{Namespace: box.Namespace, Name: box.Name}); err != nil {
					t.Fatal(err)
				}
				f.boxes.ClearActions() // the status, which the pods would have to be there for
				check(t, "requests", []string(nil), f.requests())
			})
		}
	})
}
