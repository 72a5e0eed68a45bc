// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
)

func TestPlan(t *testing.T) {
	deployment := func(changes ...func(*appsv1.Deployment)) func(*testing.T) children.Object {
		return func(t *testing.T) children.Object {
			live := fixture.LiveDeployment(t)
			fixture.SetHash(t, fixture.WebBox(t), live)
			for _, change := range changes {
				change(live)
			}
			return live
		}
	}
	service := func(changes ...func(*corev1.Service)) func(*testing.T) children.Object {
		return func(t *testing.T) children.Object {
			live := fixture.LiveService(t)
			fixture.SetHash(t, fixture.WebBox(t), live)
			for _, change := range changes {
				change(live)
			}
			return live
		}
	}
	asksToAdopt := func(box *modelv1.ModelBox) { box.Annotations = map[string]string{modelv1.AdoptAnnotation: "true"} }
	nobodys := func(d *appsv1.Deployment) { d.OwnerReferences, d.ManagedFields = nil, nil }
	anotherBoxs := func(d *appsv1.Deployment) { d.OwnerReferences[0].UID, d.OwnerReferences[0].Name = "another", "other" }
	predecessors := func(d *appsv1.Deployment) {
		d.OwnerReferences[0].UID, d.Annotations[modelv1.RenderHashAnnotation] = "before", "of the box before"
	}

	for _, row := range []struct {
		name   string
		change func(*modelv1.ModelBox)
		live   []func(*testing.T) children.Object
		want   []string
	}{
		{"what is not there is created", nil, nil, []string{"Create Deployment web", "Create Service web"}},
		{"what is as the box says is kept", nil, []func(*testing.T) children.Object{deployment(), service()},
			[]string{"Keep Deployment web", "Keep Service web"}},
		{"one child may be missing", nil, []func(*testing.T) children.Object{deployment()}, []string{"Keep Deployment web", "Create Service web"}},
		{"a changed box is an update of the children that it changes",
			func(box *modelv1.ModelBox) { box.Spec.Image = "nginx:2" },
			[]func(*testing.T) children.Object{deployment(), service()}, []string{"Update Deployment web", "Keep Service web"}},
		{"a record of another manager counts for nothing", nil,
			[]func(*testing.T) children.Object{deployment(func(d *appsv1.Deployment) {
				d.Annotations[modelv1.RenderHashAnnotation], d.ManagedFields = "of an earlier revision", nil
			}), service()},
			[]string{"Restore Deployment web: metadata.annotations.model.github.com/render-hash", "Keep Service web"}},
		{"a child of which another manager has taken over fields is reclaimed", nil,
			[]func(*testing.T) children.Object{deployment(func(d *appsv1.Deployment) { d.ManagedFields = nil }), service()},
			[]string{"Reclaim Deployment web", "Keep Service web"}},
		{"a field that a user changed is restored", nil,
			[]func(*testing.T) children.Object{deployment(func(d *appsv1.Deployment) { fixture.MainContainer(d).Image = "nginx:2" }), service()},
			[]string{`Restore Deployment web: ` + fixture.MainContainerPath[1:] + `.image`, "Keep Service web"}},
		{"a field that both the box and a user changed is updated",
			func(box *modelv1.ModelBox) { box.Spec.Replicas = ptr.To[int32](5) },
			[]func(*testing.T) children.Object{deployment(func(d *appsv1.Deployment) { fixture.MainContainer(d).Image = "nginx:2" }), service()},
			[]string{"Update Deployment web", "Keep Service web"}},
		{"a box that changes in its metadata only is recorded", func(box *modelv1.ModelBox) { box.Labels = map[string]string{"team": "cart"} },
			[]func(*testing.T) children.Object{deployment(), service()}, []string{"Record Deployment web", "Keep Service web"}},
		{"a field that a user changed besides the record is restored with it", func(box *modelv1.ModelBox) { box.Labels = map[string]string{"team": "cart"} },
			[]func(*testing.T) children.Object{deployment(func(d *appsv1.Deployment) { fixture.MainContainer(d).Image = "nginx:2" }), service()},
			[]string{`Restore Deployment web: metadata.annotations.model.github.com/record, ` + fixture.MainContainerPath[1:] + `.image`, "Keep Service web"}},
		{"a box without ports wants no Service", func(box *modelv1.ModelBox) { box.Spec.Ports = nil },
			[]func(*testing.T) children.Object{deployment(), service()}, []string{"Update Deployment web", "Prune Service web"}},
		{"a Service cannot give up its address, so another one takes its place",
			func(box *modelv1.ModelBox) {
				box.Spec.ServiceType, box.Spec.Ports[1].NodePort = modelv1.ServiceTypeHeadless, 0
			},
			[]func(*testing.T) children.Object{deployment(), service()}, []string{"Record Deployment web", "Replace Service web"}},
		{"a Service cannot get an address, so another one takes its place", nil,
			[]func(*testing.T) children.Object{deployment(), service(func(s *corev1.Service) {
				s.Spec.ClusterIP, s.Annotations[modelv1.RenderHashAnnotation] = corev1.ClusterIPNone, "headless"
			})}, []string{"Keep Deployment web", "Replace Service web"}},
		{"a Service whose address a user removed is replaced too", nil,
			[]func(*testing.T) children.Object{deployment(), service(func(s *corev1.Service) { s.Spec.ClusterIP = corev1.ClusterIPNone })},
			[]string{"Keep Deployment web", "Replace Service web"}},
		{"a Service can change from one type with an address to another",
			func(box *modelv1.ModelBox) { box.Spec.ServiceType = modelv1.ServiceTypeLoadBalancer },
			[]func(*testing.T) children.Object{deployment(), service()}, []string{"Record Deployment web", "Update Service web"}},
		{"a child under another name is pruned", nil,
			[]func(*testing.T) children.Object{deployment(), service(), service(func(s *corev1.Service) { s.Name = "old" })},
			[]string{"Keep Deployment web", "Keep Service web", "Prune Service old"}},
		{"a child under another name is pruned by whatever version of the API it knows the box", nil,
			[]func(*testing.T) children.Object{deployment(), service(), service(func(s *corev1.Service) {
				s.Name, s.OwnerReferences[0].APIVersion = "old", "model.github.com/v2"
			})},
			[]string{"Keep Deployment web", "Keep Service web", "Prune Service old"}},
		{"a child under another name that is being deleted is left to it", nil,
			[]func(*testing.T) children.Object{deployment(), service(), service(func(s *corev1.Service) {
				s.Name, s.DeletionTimestamp = "old", ptr.To(metav1.Now())
			})}, []string{"Keep Deployment web", "Keep Service web"}},
		{"a child that is being deleted is waited for", nil,
			[]func(*testing.T) children.Object{deployment(func(d *appsv1.Deployment) { d.DeletionTimestamp = ptr.To(metav1.Now()) }), service()},
			[]string{"Wait Deployment web", "Keep Service web"}},
		{"an object of another box is refused", nil, []func(*testing.T) children.Object{deployment(anotherBoxs), service()},
			[]string{"Refuse Deployment web", "Keep Service web"}},
		{"an object of another box is refused even when it is being deleted", nil,
			[]func(*testing.T) children.Object{deployment(anotherBoxs, func(d *appsv1.Deployment) { d.DeletionTimestamp = ptr.To(metav1.Now()) }), service()},
			[]string{"Refuse Deployment web", "Keep Service web"}},
		{"an object without a controller is refused", nil,
			[]func(*testing.T) children.Object{deployment(), service(func(s *corev1.Service) { s.OwnerReferences, s.ManagedFields = nil, nil })},
			[]string{"Keep Deployment web", "Refuse Service web"}},
		{"an object that another box of the name left is refused", nil,
			[]func(*testing.T) children.Object{deployment(), service(func(s *corev1.Service) {
				s.OwnerReferences, s.Annotations[modelv1.RenderHashAnnotation] = nil, "of another box"
			})},
			[]string{"Keep Deployment web", "Refuse Service web"}},
		{"a child whose owner a user removed is restored", nil,
			[]func(*testing.T) children.Object{deployment(), service(func(s *corev1.Service) { s.OwnerReferences = nil })},
			[]string{"Keep Deployment web", `Restore Service web: metadata.ownerReferences[uid="` + fixture.WebUID + `"]`}},
		{"a child of which a user made the box a mere owner is restored", nil,
			[]func(*testing.T) children.Object{deployment(), service(func(s *corev1.Service) { s.OwnerReferences[0].Controller = nil })},
			[]string{"Keep Deployment web", `Restore Service web: metadata.ownerReferences[uid="` + fixture.WebUID + `"]`}},
		{"a child of which a user made another box of the name the owner is restored", nil,
			[]func(*testing.T) children.Object{deployment(), service(func(s *corev1.Service) { s.OwnerReferences[0].UID = "another" })},
			[]string{"Keep Deployment web", `Restore Service web: metadata.ownerReferences[uid="` + fixture.WebUID + `"]`}},
		{"an object of the box that had the name before is replaced", nil, []func(*testing.T) children.Object{deployment(predecessors), service()},
			[]string{"Replace Deployment web", "Keep Service web"}},
		{"an object of the box that had the name before is waited for when it goes", nil,
			[]func(*testing.T) children.Object{deployment(predecessors, func(d *appsv1.Deployment) { d.DeletionTimestamp = ptr.To(metav1.Now()) }), service()},
			[]string{"Wait Deployment web", "Keep Service web"}},
		{"an object without a controller is adopted by a box that asks for it", asksToAdopt,
			[]func(*testing.T) children.Object{deployment(nobodys), service()}, []string{"Adopt Deployment web", "Keep Service web"}},
		{"an object of another box is refused to a box that asks for it", asksToAdopt,
			[]func(*testing.T) children.Object{deployment(anotherBoxs), service()}, []string{"Refuse Deployment web", "Keep Service web"}},
		{"a box that asks for an object without a controller waits while the object is being deleted", asksToAdopt,
			[]func(*testing.T) children.Object{deployment(nobodys, func(d *appsv1.Deployment) { d.DeletionTimestamp = ptr.To(metav1.Now()) }), service()},
			[]string{"Wait Deployment web", "Keep Service web"}},
		{"a Deployment with another selector cannot be adopted", asksToAdopt,
			[]func(*testing.T) children.Object{deployment(nobodys, func(d *appsv1.Deployment) { d.Spec.Selector.MatchLabels["more"] = "so" }), service()},
			[]string{"Refuse Deployment web", "Keep Service web"}},
		{"a headless Service cannot be adopted by a box that is not", asksToAdopt,
			[]func(*testing.T) children.Object{deployment(), service(func(s *corev1.Service) {
				s.OwnerReferences, s.ManagedFields, s.Spec.ClusterIP = nil, nil, corev1.ClusterIPNone
			})},
			[]string{"Record Deployment web", "Refuse Service web"}},
		{"a Deployment of the box with another selector is replaced", nil,
			[]func(*testing.T) children.Object{deployment(func(d *appsv1.Deployment) {
				d.Spec.Selector.MatchLabels["more"], d.Annotations[modelv1.RenderHashAnnotation] = "so", ""
			}), service()},
			[]string{"Replace Deployment web", "Keep Service web"}},
		{"an object of another name without a controller is left alone", nil,
			[]func(*testing.T) children.Object{deployment(), service(), service(func(s *corev1.Service) { s.Name, s.OwnerReferences = "old", nil })},
			[]string{"Keep Deployment web", "Keep Service web"}},
		{"an object of the name in another namespace is left alone", nil,
			[]func(*testing.T) children.Object{deployment(anotherBoxs, func(d *appsv1.Deployment) { d.Namespace = "other" })},
			[]string{"Create Deployment web", "Create Service web"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := fixture.WebBox(t)
			if row.change != nil {
				row.change(box)
			}
			f := newTestController(t, box)
			for _, live := range row.live {
				f.cache(t, live(t).(runtime.Object))
			}
			steps, _, err := f.children.Plan(box)
			if err != nil {
				t.Fatal(err)
			}
			check(t, "steps", row.want, sentences(steps))
			if actions := f.cluster.Actions(); len(actions) != 0 {
				t.Errorf("planning sent requests: %v", actions)
			}
		})
	}
}

// sentences are the steps in words, with the fields to restore.
func sentences(steps []apply.Step) []string {
	var sentences []string
	for _, s := range steps {
		words := fmt.Sprintf("%s %s %s", s.Operation, s.Kind.GroupVersionKind.Kind, s.Name())
		if s.Operation == apply.Restore {
			words += ": " + fields.Names(s.Difference.Fields)
		}
		sentences = append(sentences, words)
	}
	return sentences
}
