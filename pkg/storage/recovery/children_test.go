// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"errors"
	"strconv"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"
)

func TestRecordsOfEveryPageAreRestored(t *testing.T) {
	var revisions []appsv1.ControllerRevision
	want := []string{"a", "b", "c"}
	for _, name := range want {
		revisions = append(revisions, *revisionOf(t, stack(name, types.UID(name))))
	}
	f := newFixture(t)
	listed := map[string]bool{}
	// Each page has one record and the token of the next page.
	f.cluster.PrependReactor("list", "controllerrevisions", func(action clienttesting.Action) (bool, runtime.Object, error) {
		token := action.(clienttesting.ListActionImpl).ListOptions.Continue
		if listed[token] {
			return true, nil, errors.New("the page was listed before")
		}
		listed[token] = true
		at, _ := strconv.Atoi(token)
		list := &appsv1.ControllerRevisionList{Items: revisions[at : at+1]}
		if at+1 < len(revisions) {
			list.Continue = strconv.Itoa(at + 1)
		}
		return true, list, nil
	})
	f.setLease(earlier)
	f.serve(Empty)
	expectNames(t, f.storedStacks(), want...)
}

func TestARecordIsUsedOnlyForTheObjectThatControlsItsChild(t *testing.T) {
	recorded := types.NamespacedName{Namespace: "shop", Name: "web"}
	for _, row := range []struct {
		name  string
		owner types.NamespacedName
		uid   types.UID
		want  bool
	}{
		{"the same object", recorded, "1", true},
		{"an object of another namespace", types.NamespacedName{Namespace: "mallory", Name: "web"}, "1", false},
		{"an object of another name", types.NamespacedName{Namespace: "shop", Name: "mail"}, "1", false},
		{"an object of another UID", recorded, "2", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			workload := deploymentOf(t, box(recorded.Name, "1"), naming(row.owner.Name, row.uid), func(child *metav1.PartialObjectMetadata) {
				child.Namespace = row.owner.Namespace
			})
			f := newFixture(t, workload)
			f.setLease(earlier)
			if row.want {
				expectAbsent(t, f, Empty)
				expectNames(t, f.stored(), "web")
				return
			}
			expectAbsent(t, f, Empty, AbsentOwner{"modelboxes", row.owner.Namespace, row.owner.Name, row.uid})
			expectNames(t, f.stored())
		})
	}
}
