// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/fake"
)

// The garbage collector of a cluster may not see for minutes that boxes of the server were deleted.
func TestRollbackLetsGoWhereTheGarbageCollectorDoesNot(t *testing.T) {
	deployment := webDeployment()
	deployment.OwnerReferences[0].UID = "uid-in-server"
	r := &rollbackOptions{options: newOptions(t, deployment)}
	box := &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "uid-in-server", Finalizers: []string{"example.com/other", metav1.FinalizerOrphanDependents}}}
	r.store(t, box)
	exported := webBox(t, nil)
	exported.UID = box.UID
	if err := r.letGo(t.Context(), exported); err != nil {
		t.Fatal(err)
	}
	live, err := r.clients.live(t.Context(), exported.children[0])
	if err != nil {
		t.Fatal(err)
	}
	if owners := live.GetOwnerReferences(); len(owners) != 1 || owners[0].UID != "uid-of-other" {
		t.Errorf("the Deployment belongs to %v", owners)
	}
	left, err := r.clients.boxes.ModelV1().ModelBoxes(box.Namespace).Get(t.Context(), box.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"example.com/other"}, left.Finalizers); diff != "" {
		t.Errorf("finalizers (-want +got):\n%s", diff)
	}
	gone := &exportedBox{Namespace: "shop", Name: "gone", UID: "gone"}
	if err := r.letGo(t.Context(), gone); err != nil {
		t.Errorf("of a box that is gone: %v", err)
	}
}

func TestRollbackWaitsForTheGarbageCollectorAsLongAsItWorks(t *testing.T) {
	boxes := []*modelv1.ModelBox{
		{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "1", Finalizers: []string{metav1.FinalizerOrphanDependents}}},
		{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "api", UID: "2", Finalizers: []string{metav1.FinalizerOrphanDependents}}},
	}
	for _, row := range []struct {
		name string
		// works is true if the garbage collector removes its finalizer whenever a box is read.
		works bool
		want  int
	}{{"it works", true, 0}, {"it does not", false, 2}} {
		t.Run(row.name, func(t *testing.T) {
			r := &rollbackOptions{options: newOptions(t), collectorPatience: time.Millisecond}
			if row.works {
				r.collectorPatience = time.Hour
			}
			for _, box := range boxes {
				r.store(t, box)
			}
			if row.works {
				left := slices.Clone(boxes)
				client := r.clients.boxes.(*fake.Clientset)
				client.PrependReactor("list", "modelboxes", func(clienttesting.Action) (bool, runtime.Object, error) {
					if len(left) == 0 {
						return false, nil, nil
					}
					gone := left[0]
					left = left[1:]
					return false, nil, client.Tracker().Delete(modelv1.SchemeGroupVersion.WithResource("modelboxes"), gone.Namespace, gone.Name)
				})
			}
			left, err := r.awaitCollector(t.Context(), boxes)
			if err != nil {
				t.Fatal(err)
			}
			if len(left) != row.want {
				t.Errorf("%d boxes are left, want %d", len(left), row.want)
			}
		})
	}
}
