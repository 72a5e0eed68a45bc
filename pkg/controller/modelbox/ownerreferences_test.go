// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
)

// forgeries are controller references with the UID of webBox that name another object.
var forgeries = []struct {
	name  string
	forge func(*corev1.Service)
}{
	{"another name", func(s *corev1.Service) { s.OwnerReferences[0].Name = "other" }},
	{"another kind", func(s *corev1.Service) { s.OwnerReferences[0].Kind = "ModelStack" }},
	{"another group", func(s *corev1.Service) { s.OwnerReferences[0].APIVersion = "example.com/v1" }},
	{"no group", func(s *corev1.Service) { s.OwnerReferences[0].APIVersion = "v1" }},
	{"what is no group and version", func(s *corev1.Service) { s.OwnerReferences[0].APIVersion = "model.github.com/v1/v1" }},
	{"another namespace", func(s *corev1.Service) { s.Namespace = "other" }},
}

// A reference is no reason to delete what carries it, but for one that names the box in every part.
func TestPlanPrunesNothingWithAForgedOwnerReference(t *testing.T) {
	for _, row := range forgeries {
		t.Run(row.name, func(t *testing.T) {
			box := fixture.WebBox(t)
			f := newTestController(t, box)
			f.cache(t, fixture.LiveService(t, func(s *corev1.Service) { s.Name = "forged" }, row.forge))
			steps, _, err := f.children.Plan(box)
			if err != nil {
				t.Fatal(err)
			}
			check(t, "steps", []string{"Create Deployment web", "Create Service web"}, sentences(steps))
		})
	}
}

// A box without ports has no Service. A Service of its name that another client made stays, whatever it carries.
func TestReconcileKeepsAServiceWithAForgedOwnerReference(t *testing.T) {
	for _, row := range forgeries {
		t.Run(row.name, func(t *testing.T) {
			box := fixture.WebBox(t, func(box *modelv1.ModelBox) { box.Spec.Ports = nil })
			forged := fixture.LiveService(t, row.forge)
			deployment := fixture.BareDeployment(t, box)
			fixture.SetHash(t, box, deployment)
			f := newTestController(t, box, deployment, forged)
			f.cache(t, deployment, forged)
			if _, err := f.ReconcileKey(t.Context(), apply.KeyOf(box)); err != nil {
				t.Error(err)
			}
			if _, err := f.cluster.CoreV1().Services(forged.Namespace).Get(t.Context(), "web", metav1.GetOptions{}); err != nil {
				t.Error(err)
			}
			for _, action := range f.cluster.Actions() {
				if action.GetVerb() != "get" {
					t.Errorf("the cluster is asked to %s %s", action.GetVerb(), action.GetResource().Resource)
				}
			}
		})
	}
}

// A child that is the box's but for its reference is healed.
func TestPlanRestoresAChangedOwnerReference(t *testing.T) {
	for _, row := range forgeries[:len(forgeries)-1] {
		t.Run(row.name, func(t *testing.T) {
			box := fixture.WebBox(t)
			f := newTestController(t, box)
			forged := fixture.LiveService(t, row.forge)
			fixture.SetHash(t, box, forged)
			operation := func() apply.Operation {
				f.cache(t, forged)
				steps, _, err := f.children.Plan(box)
				if err != nil {
					t.Fatal(err)
				}
				return steps[1].Operation
			}
			check(t, "operation", apply.Restore, operation())
			// Without our managed fields, the record may come from any client.
			forged.ManagedFields = nil
			check(t, "operation on what was not applied by the server", apply.Refuse, operation())
		})
	}
}
