// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

func runBy(workload modelv1.Workload) func(*modelv1.ModelBox) {
	return func(box *modelv1.ModelBox) { box.Spec.Workload = workload }
}

func TestBoxesAreRecoveredFromWorkloadsOfEachKind(t *testing.T) {
	for _, kind := range modelv1.Workloads() {
		t.Run(string(kind), func(t *testing.T) {
			f := newFixture(t, workloadOf(t, box("web", "1", atGeneration(4), runBy(kind)), string(kind)))
			f.serve(Empty)
			web := f.stored()["web"]
			if web.UID != "1" || web.Generation != 4 || web.Spec.Workload != model.Workload(kind) {
				t.Errorf("the restored box differs: %v", web)
			}
			f.serve(Current)
		})
		t.Run(string(kind)+" whose label was changed", func(t *testing.T) {
			f := newFixture(t, workloadOf(t, box("web", "1", runBy(kind)), string(kind), func(workload *metav1.PartialObjectMetadata) {
				workload.Labels = map[string]string{render.ManagedByLabel: "another", modelv1.SelectorLabel: "web"}
			}))
			f.serve(Empty)
			expectNames(t, f.stored(), "web")
		})
		t.Run(string(kind)+" whose box is lost", func(t *testing.T) {
			f := newFixture(t, childOf(box("web", "1"), apiVersionOf(string(kind)), string(kind)))
			expectAbsent(t, f, Empty, AbsentOwner{"modelboxes", testNamespace, "web", "1"})
		})
		t.Run(string(kind)+" of a box that was not deleted", func(t *testing.T) {
			web := box("web", "1", runBy(kind))
			f := newFixture(t, workloadOf(t, web, string(kind)))
			f.put(web, box("gone", "2", runBy(kind)))
			own := f.serve(Current)
			own.Revision += 1000
			f.setLease(own)
			f.serve(Behind)
			expectNames(t, f.stored(), "web")
		})
	}
}

// A box that was deleted and created again with another kind of workload leaves one that the garbage collector, which
// needs the server, has not come to yet.
func TestOfTwoRecordedBoxesOfANameTheLaterIsRecovered(t *testing.T) {
	t.Parallel()
	created := func(second int64) func(*modelv1.ModelBox) {
		return func(box *modelv1.ModelBox) {
			box.CreationTimestamp = metav1.NewTime(time.Unix(1_700_000_000+second, 0))
		}
	}
	owned := func(box *modelv1.ModelBox) {
		box.OwnerReferences = []metav1.OwnerReference{{APIVersion: "model.github.com/v1", Kind: "ModelBox", Name: "parent", UID: "p"}}
	}
	asIs := func(*modelv1.ModelBox) {}
	for _, row := range []struct {
		name                                  string
		deployment, statefulSet               func(*modelv1.ModelBox)
		deploymentCreated, statefulSetCreated int64
		want                                  string
	}{
		{"the Deployment is garbage", asIs, asIs, 0, 1, "statefulset"},
		{"the StatefulSet is garbage", asIs, asIs, 1, 0, "deployment"},
		{"the Deployment is garbage, and its box had an owner", owned, asIs, 0, 1, "statefulset"},
		{"the StatefulSet is garbage, and its box had an owner", asIs, owned, 1, 0, "deployment"},
		{"the Deployment is garbage, and both had an owner", owned, owned, 0, 1, "statefulset"},
		{"the StatefulSet is garbage, and both had an owner", owned, owned, 1, 0, "deployment"},
	} {
		for _, stored := range []bool{false, true} {
			name, situation := row.name, Empty
			if stored {
				name, situation = name+", in a foreign store that has one of the name", Foreign
			}
			t.Run(name, func(t *testing.T) {
				f := newFixture(t, []runtime.Object{
					workloadOf(t, box("web", "deployment", created(row.deploymentCreated), row.deployment), "Deployment"),
					workloadOf(t, box("web", "statefulset", created(row.statefulSetCreated), row.statefulSet), "StatefulSet"),
				}...)
				f.setLease(earlier)
				if stored {
					f.put(box("web", "stored", created(9)))
				}
				f.serve(situation)
				if got := string(f.stored()["web"].UID); got != row.want {
					t.Errorf("the box of the %s is recovered, want the box of the %s", got, row.want)
				}
			})
		}
	}
}
