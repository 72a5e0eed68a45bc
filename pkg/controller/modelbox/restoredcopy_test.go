// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// restored makes a child one that was created from a backup: without an owner, and with the managed fields of the original.
func restored(child metav1.Object) {
	applied := metav1.NewTime(time.Unix(1_700_000_000, 0))
	child.SetOwnerReferences(nil)
	child.SetCreationTimestamp(metav1.NewTime(applied.Add(time.Hour)))
	entries := child.GetManagedFields()
	for i := range entries {
		entries[i].Time = &applied
	}
	child.SetManagedFields(entries)
}

func TestABoxTakesBackRestoredCopiesOfItsChildren(t *testing.T) {
	recordOf := func(change func(*modelv1.ModelBox)) func(*appsv1.Deployment) {
		return func(d *appsv1.Deployment) {
			record, err := modelboxrender.Record(fixture.WebBox(t, change))
			if err != nil {
				t.Fatal(err)
			}
			d.Annotations[modelv1.RecordAnnotation] = record
		}
	}
	for _, row := range []struct {
		name       string
		deployment func(*appsv1.Deployment)
		service    func(*corev1.Service)
		want       [2]apply.Operation
	}{
		{"as they were", func(*appsv1.Deployment) {}, func(*corev1.Service) {}, [2]apply.Operation{apply.Adopt, apply.Adopt}},
		{"recording the UID that the box had before", recordOf(func(box *modelv1.ModelBox) { box.UID = "before" }), func(*corev1.Service) {},
			[2]apply.Operation{apply.Adopt, apply.Adopt}},
		{"with fields of other managers", func(d *appsv1.Deployment) { d.Labels["velero.io/restore-name"] = "monday" },
			func(s *corev1.Service) { s.Labels["velero.io/restore-name"] = "monday" }, [2]apply.Operation{apply.Adopt, apply.Adopt}},
		{"changed by a user", func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "other" },
			func(s *corev1.Service) { s.Spec.Ports[0].Port = 81 }, [2]apply.Operation{apply.Adopt, apply.Refuse}},
		{"recording another box", recordOf(func(box *modelv1.ModelBox) { box.Name = "other" }), func(*corev1.Service) {},
			[2]apply.Operation{apply.Refuse, apply.Adopt}},
		{"recording a box of another namespace", recordOf(func(box *modelv1.ModelBox) { box.Namespace = "other" }), func(*corev1.Service) {},
			[2]apply.Operation{apply.Refuse, apply.Adopt}},
		{"recording another spec", recordOf(func(box *modelv1.ModelBox) { box.Spec.Image = "other" }), func(*corev1.Service) {},
			[2]apply.Operation{apply.Refuse, apply.Adopt}},
		{"with a record that cannot be read", changesRecord("hostile"), func(*corev1.Service) {},
			[2]apply.Operation{apply.Refuse, apply.Adopt}},
		{"of another box", func(d *appsv1.Deployment) { d.Labels["app.kubernetes.io/instance"] = "other" },
			func(s *corev1.Service) { s.Labels["app.kubernetes.io/instance"] = "other" }, [2]apply.Operation{apply.Refuse, apply.Refuse}},
		{"that another controls",
			func(d *appsv1.Deployment) {
				d.OwnerReferences = fixture.LiveDeployment(t).OwnerReferences
				d.OwnerReferences[0].UID, d.OwnerReferences[0].Name = "2", "other"
			},
			func(s *corev1.Service) {
				s.OwnerReferences = fixture.LiveService(t).OwnerReferences
				s.OwnerReferences[0].UID, s.OwnerReferences[0].Name = "2", "other"
			}, [2]apply.Operation{apply.Refuse, apply.Refuse}},
		{"that were never applied", func(d *appsv1.Deployment) { d.ManagedFields = nil },
			func(s *corev1.Service) { s.ManagedFields = nil }, [2]apply.Operation{apply.Refuse, apply.Refuse}},
		{"that are left of a box which was deleted, and no copies",
			func(d *appsv1.Deployment) { d.CreationTimestamp = *d.ManagedFields[0].Time },
			func(s *corev1.Service) { s.CreationTimestamp = *s.ManagedFields[0].Time }, [2]apply.Operation{apply.Refuse, apply.Refuse}},
	} {
		t.Run(row.name, func(t *testing.T) {
			deployment, service := fixture.LiveDeployment(t), fixture.LiveService(t)
			restored(deployment)
			restored(service)
			row.deployment(deployment)
			row.service(service)
			box := fixture.WebBox(t)
			f := newTestController(t, box, deployment, service)
			for _, child := range []runtime.Object{deployment.DeepCopy(), service.DeepCopy()} {
				cached, err := kinds.TrimChild(child) // as an informer does, so that the cache has no records
				if err != nil {
					t.Fatal(err)
				}
				f.cache(t, cached.(runtime.Object))
			}
			result, err := f.children.Reconcile(t.Context(), box)
			if err != nil {
				t.Fatal(err)
			}
			got := [2]apply.Operation{apply.Refuse, apply.Refuse}
			if metav1.IsControlledBy(f.deployment(t), box) {
				got[0] = apply.Adopt
			}
			live, err := f.cluster.CoreV1().Services(service.Namespace).Get(t.Context(), service.Name, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if metav1.IsControlledBy(live, box) {
				got[1] = apply.Adopt
			}
			check(t, "what becomes of the Deployment and the Service", row.want, got)
			check(t, "there is a failure", row.want[0] == apply.Refuse || row.want[1] == apply.Refuse, len(result.Failures) > 0)
			check(t, "UID of the Deployment", deployment.UID, f.deployment(t).UID)
		})
	}
}

// Fields that the box does not ask for are removed, as from every other object that it takes over.
func TestARestoredCopyIsTakenBackWithoutWhatIsAddedToIt(t *testing.T) {
	deployment := fixture.LiveDeployment(t, func(d *appsv1.Deployment) {
		d.Spec.Template.Spec.HostNetwork = true
		d.Spec.Template.Spec.Containers[0].Image = "other"
	})
	restored(deployment)
	f := newTestController(t, fixture.WebBox(t), deployment)
	f.mustReconcile(t)
	taken := f.deployment(t)
	check(t, "it is controlled by the box", true, metav1.IsControlledBy(taken, f.boxInServer(t)))
	check(t, "host network", false, taken.Spec.Template.Spec.HostNetwork)
	check(t, "image", f.boxInServer(t).Spec.Image, taken.Spec.Template.Spec.Containers[0].Image)
}
