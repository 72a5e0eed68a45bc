// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"errors"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

func adopting(box *modelv1.ModelBox) {
	box.Annotations = map[string]string{modelv1.AdoptAnnotation: "true"}
}

func TestRefusalSaysWhatToDo(t *testing.T) {
	nobodys := func(s *corev1.Service) { s.OwnerReferences = nil }
	const taken = "a Service named web exists already and does not belong to this box: "
	for _, row := range []struct {
		name   string
		change func(*modelv1.ModelBox)
		live   func(*corev1.Service)
		want   string
	}{
		{"what can be adopted", func(*modelv1.ModelBox) {}, nobodys,
			taken + "delete it, give the box another name, or annotate the box with model.github.com/adopt=true to take it over"},
		{"an annotation that says no", func(box *modelv1.ModelBox) { box.Annotations = map[string]string{modelv1.AdoptAnnotation: "false"} }, nobodys,
			taken + "delete it, give the box another name, or annotate the box with model.github.com/adopt=true to take it over"},
		{"an object that another owner controls", func(*modelv1.ModelBox) {}, func(s *corev1.Service) { s.OwnerReferences[0].UID, s.OwnerReferences[0].Name = "another", "other" },
			taken + "delete it or give the box another name"},
		{"an object that another owner controls, for a box that asks for it", adopting,
			func(s *corev1.Service) { s.OwnerReferences[0].UID, s.OwnerReferences[0].Name = "another", "other" },
			taken + "it cannot be adopted, for it is controlled by ModelBox other; delete it or give the box another name"},
		{"what cannot become what the box says", adopting,
			func(s *corev1.Service) { s.OwnerReferences, s.Spec.ClusterIP = nil, corev1.ClusterIPNone },
			taken + "it cannot be adopted, for it is headless and cannot get a cluster IP; delete it or give the box another name"},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := fixture.WebBox(t, row.change)
			f := newTestController(t, box)
			f.cache(t, fixture.LiveService(t, row.live))
			result, err := f.children.Reconcile(t.Context(), box)
			if err != nil {
				t.Fatal(err)
			}
			if err := result.Err(); err == nil || err.Error() != row.want {
				t.Errorf("got %v, want %s", err, row.want)
			}
		})
	}
}

func TestRefusalNamesBothSelectors(t *testing.T) {
	box := fixture.WebBox(t, adopting)
	live := fixture.LiveDeployment(t, func(d *appsv1.Deployment) {
		d.OwnerReferences = nil
		d.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	})
	f := newTestController(t, box)
	f.cache(t, live)
	result, err := f.children.Reconcile(t.Context(), box)
	if err != nil {
		t.Fatal(err)
	}
	want := `a Deployment named web exists already and does not belong to this box: it cannot be adopted, for its selector is ` +
		`"app=web" and cannot become "modelbox=web"; delete it or give the box another name`
	if err := result.Err(); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestAdoptTakesOverAnObjectWithoutController(t *testing.T) {
	orphan := fixture.LiveDeployment(t, func(d *appsv1.Deployment) { d.OwnerReferences, d.UID = nil, "of-the-orphan" })
	f := newTestController(t, fixture.WebBox(t, adopting), orphan)
	f.mustReconcile(t)
	check(t, "requests", []string{
		"get deployments web", "patch deployments web", "patch deployments web", "get services web", "patch services web",
		"get modelboxes web", "update modelboxes/status web",
	}, f.requests())
	check(t, "events", []string{
		"Normal AdoptedDeployment Took over Deployment web, which had no controller",
		"Normal CreatedService Created Service web",
		"Normal RolloutComplete 2 of 2 replicas are available",
	}, f.told())
	adopted := f.deployment(t)
	check(t, "UID", orphan.UID, adopted.UID)
	check(t, "it is controlled by the box", true, metav1.IsControlledBy(adopted, f.boxInServer(t)))
}

func TestAdoptKeepsWhatHoldsThePods(t *testing.T) {
	labels := func(d *appsv1.Deployment) { d.Spec.Template.Labels["app"] = "web" }
	for _, row := range []struct {
		name   string
		change func(*appsv1.Deployment)
	}{
		{"another selector of labels", func(d *appsv1.Deployment) {
			d.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
		}},
		{"a selector of expressions", func(d *appsv1.Deployment) {
			d.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
				{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: []string{"web", "api"}},
			}}
		}},
		{"a pause", func(d *appsv1.Deployment) { d.Spec.Paused = true }},
	} {
		t.Run(row.name, func(t *testing.T) {
			orphan := fixture.LiveDeployment(t, func(d *appsv1.Deployment) { d.OwnerReferences = nil }, labels, row.change)
			f := newTestController(t, fixture.WebBox(t, adopting), orphan)
			f.mustReconcile(t)
			adopted := f.deployment(t)
			check(t, "it is controlled by the box", true, metav1.IsControlledBy(adopted, f.boxInServer(t)))
			check(t, "selector", orphan.Spec.Selector, adopted.Spec.Selector)
			check(t, "paused", orphan.Spec.Paused, adopted.Spec.Paused)
			check(t, "label of the pods", "web", adopted.Spec.Template.Labels["app"])
			f.cache(t, adopted)
			f.mustReconcile(t)
			check(t, "UID after another reconcile", orphan.UID, f.deployment(t).UID)
		})
	}
}

func TestReconcileReplacesTheDeploymentOfADeletedBoxWithItsSelector(t *testing.T) {
	left := fixture.LiveDeployment(t, func(d *appsv1.Deployment) {
		d.OwnerReferences[0].UID = "before"
		d.Spec.Template.Labels["app"] = "web"
		d.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	})
	f := newTestController(t, fixture.WebBox(t), left)
	f.cache(t, left)
	f.mustReconcile(t)
	check(t, "selector", modelboxrender.Selector(f.boxInServer(t)), f.deployment(t).Spec.Selector.MatchLabels)
}

func TestAdoptStopsWhenTheBoxHasChanged(t *testing.T) {
	orphan := fixture.LiveDeployment(t, func(d *appsv1.Deployment) { d.OwnerReferences = nil })
	for name, change := range map[string]func(*modelv1.ModelBox){
		"it was recreated":               func(box *modelv1.ModelBox) { box.UID = "another" },
		"it is being deleted":            func(box *modelv1.ModelBox) { now := metav1.Now(); box.DeletionTimestamp = &now },
		"it does not ask for it anymore": func(box *modelv1.ModelBox) { box.Annotations = nil },
	} {
		t.Run(name, func(t *testing.T) {
			f := newTestController(t, fixture.WebBox(t, adopting), orphan)
			f.update(t, change)
			if _, err := f.ReconcileKey(t.Context(), fixture.WebKey); !errors.Is(err, children.ErrOwnerChanged) {
				t.Errorf("got error %v, want %v", err, children.ErrOwnerChanged)
			}
			check(t, "owners", 0, len(f.deployment(t).OwnerReferences))
		})
	}
}

func TestAdoptStopsWhenTheBoxIsGone(t *testing.T) {
	orphan := fixture.LiveDeployment(t, func(d *appsv1.Deployment) { d.OwnerReferences = nil })
	f := newTestController(t, fixture.WebBox(t, adopting), orphan)
	if err := f.boxes.ModelV1().ModelBoxes(fixture.WebKey.Namespace).Delete(t.Context(), fixture.WebKey.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.ReconcileKey(t.Context(), fixture.WebKey); !errors.Is(err, children.ErrOwnerChanged) {
		t.Errorf("got error %v, want %v", err, children.ErrOwnerChanged)
	}
	check(t, "owners", 0, len(f.deployment(t).OwnerReferences))
}

func TestReconcileReplacesTheChildOfADeletedBox(t *testing.T) {
	left := fixture.LiveDeployment(t, func(d *appsv1.Deployment) { d.OwnerReferences[0].UID = "before" })
	f := newTestController(t, fixture.WebBox(t), left)
	f.cache(t, left)
	f.mustReconcile(t)
	check(t, "requests", []string{
		"delete deployments web", "get deployments web", "patch deployments web", "get services web", "patch services web",
		"get modelboxes web", "update modelboxes/status web",
	}, f.requests())
	check(t, "first event", "Normal ReplacedDeployment Deleted Deployment web to recreate it: it belonged to a box of this name "+
		"that has been deleted", f.told()[0])
	check(t, "it is controlled by the box", true, metav1.IsControlledBy(f.deployment(t), f.boxInServer(t)))
}

func TestReconcileOfADeletedBoxKeepsTheChildOfItsSuccessor(t *testing.T) {
	successors := fixture.LiveDeployment(t, func(d *appsv1.Deployment) { d.OwnerReferences[0].UID = "after" })
	f := newTestController(t, fixture.WebBox(t), successors)
	f.cache(t, successors)
	f.update(t, func(box *modelv1.ModelBox) { box.UID = "after" })
	if _, err := f.ReconcileKey(t.Context(), fixture.WebKey); !errors.Is(err, children.ErrOwnerChanged) {
		t.Errorf("got error %v, want %v", err, children.ErrOwnerChanged)
	}
	check(t, "UID", successors.UID, f.deployment(t).UID)
}
