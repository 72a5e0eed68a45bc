// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"testing"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
)

// The cluster of the test takes no write of a NetworkAttachmentDefinition: the status would report one as a failure.
func TestChildrenOfEarlierReleasesNeedNoWrite(t *testing.T) {
	fixture.ForEachRelease(t, func(t *testing.T, release fixture.Release) {
		for _, network := range fixture.Objects[*modelv1.Network](t, release) {
			f := newTestController(t, network)
			kind := f.definitions
			kind.IsServed = func() bool { return true }
			for _, child := range release.Children(t, network) {
				object := child.(children.Object)
				apply.Trim(object)
				if err := kind.Informer.GetIndexer().Add(object); err != nil {
					t.Fatal(err)
				}
			}
			f.reconcile()
			check(t, "condition", "True Applied: the NetworkAttachmentDefinition is up to date", f.condition(modelv1.ConditionApplied))
		}
	})
}
