// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

func TestAStackThatHasNotChangedIsSilent(t *testing.T) {
	f := newTestController(t, newStack(boxComponent("db"), boxComponent("web", "db"), outside("mail", "mail.example.com"), outside("search", "192.0.2.1")))
	f.settle()
	f.Controller.children = f.newEngine() // as another process
	f.catchUp()
	if _, err := f.Controller.ReconcileKey(t.Context(), shopKey); err != nil {
		t.Fatal(err)
	}
	check(t, "requests", 0, len(f.models.Actions())+len(f.cluster.Actions()))
}

func TestNamesThatAreTakenAreLeftAlone(t *testing.T) {
	for _, row := range []struct {
		name   string
		taken  func(f *testController)
		states string
	}{
		{"a box", func(f *testController) {
			f.inCluster(&modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Name: "db", Namespace: shopKey.Namespace, UID: "foreign"}})
		}, "db=Stalled web=Waiting(db) mail=Ready"},
		{"a Service", func(f *testController) {
			f.inCluster(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "mail", Namespace: shopKey.Namespace, UID: "foreign"}})
		}, "db=Progressing web=Waiting(db) mail=Stalled"},
		{"the Service of a box that is not the stack's", func(f *testController) {
			f.inCluster(&modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Name: "mail", Namespace: shopKey.Namespace, UID: "foreign"}})
			f.inCluster(&corev1.Service{ObjectMeta: metav1.ObjectMeta{
				Name: "mail", Namespace: shopKey.Namespace, UID: "service",
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "model.github.com/v1", Kind: "ModelBox", Name: "mail", UID: "foreign", Controller: ptr.To(true)}},
			}})
		}, "db=Progressing web=Waiting(db) mail=Stalled"},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newTestController(t, newStack(boxComponent("db"), boxComponent("web", "db"), outside("mail", "mail.example.com")))
			row.taken(f)
			f.reconcile()
			f.reconcile()
			f.reconcile()
			check(t, "states", row.states, f.states())
			check(t, "applied", "False NotOwned", f.condition(modelv1.ConditionApplied))
			check(t, "stalled", "True NotOwned", f.condition(modelv1.ConditionStalled))
		})
	}
}

func TestAComponentGoesOutsideAndComesBack(t *testing.T) {
	f := newTestController(t, newStack(boxComponent("db"), boxComponent("web", "db")))
	f.settle()
	f.inCluster(&corev1.Service{ObjectMeta: metav1.ObjectMeta{
		Name: "db", Namespace: shopKey.Namespace, UID: "service", Labels: map[string]string{render.ManagedByLabel: render.ManagedBy},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "model.github.com/v1", Kind: "ModelBox", Name: "db", UID: f.box("db").UID, Controller: ptr.To(true)}},
	}})
	f.update(func(stack *modelv1.ModelStack) { stack.Spec.Components[0] = outside("db", "db.example.com") })
	check(t, "the box goes first", []string{"delete modelboxes db"}, f.reconcile())
	check(t, "while its Service is there", []string(nil), f.reconcile())
	check(t, "applied, which is no failure", "False", f.condition(modelv1.ConditionReady)[:5])
	check(t, "message", "Service db of the box has to be deleted first", f.stack().Status.Components[0].Message)
	if err := f.cluster.CoreV1().Services(shopKey.Namespace).Delete(t.Context(), "db", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	f.catchUp()
	check(t, "the Service of the stack", []string{"patch services db"}, f.reconcile())
	f.reconcile()
	check(t, "states", "db=Ready web=Ready", f.states())

	f.update(func(stack *modelv1.ModelStack) { stack.Spec.Components[0] = boxComponent("db") })
	check(t, "the Service goes first", []string{"delete services db"}, f.reconcile())
	check(t, "message", "Service db has to be deleted first", f.stack().Status.Components[0].Message)
	check(t, "then comes the box", []string{"patch modelboxes db"}, f.reconcile())
}

func (f *testController) box(name string) *modelv1.ModelBox {
	f.t.Helper()
	box, err := f.models.ModelV1().ModelBoxes(shopKey.Namespace).Get(f.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	return box
}

func TestReplicasThatTheStackDoesNotGiveAreLeftAlone(t *testing.T) {
	f := newTestController(t, newStack(boxComponent("web")))
	f.settle()
	f.changeBox("web", func(box *modelv1.ModelBox) { box.Spec.Replicas = ptr.To[int32](5) })
	check(t, "writes", []string(nil), f.reconcile())
	f.update(func(stack *modelv1.ModelStack) { stack.Spec.Components[0].Box.Image = "web:2" })
	f.reconcile()
	check(t, "replicas", int32(5), *f.box("web").Spec.Replicas)
}

func TestReplicasAreLeftToAnAutoscalerOfTheBox(t *testing.T) {
	web := boxComponent("web")
	web.Box.Replicas = ptr.To[int32](2)
	f := newTestController(t, newStack(web))
	f.settle()
	f.changeBox("web", func(box *modelv1.ModelBox) { box.Spec.Replicas = ptr.To[int32](5) })
	autoscaler := &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: shopKey.Namespace},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "model.github.com/v1", Kind: "ModelBox", Name: "web"},
		},
	}
	if err := f.autoscalers.Add(autoscaler); err != nil {
		t.Fatal(err)
	}
	stack, ok := f.stackOfAutoscaler(autoscaler)
	check(t, "the stack is found", true, ok && stack == shopKey)
	f.reconcile()
	check(t, "replicas", int32(5), *f.box("web").Spec.Replicas)
	check(t, "annotation", "2", f.box("web").Annotations[modelv1.AutoscaledAnnotation])
	if err := f.autoscalers.Delete(autoscaler); err != nil {
		t.Fatal(err)
	}
	f.reconcile()
	check(t, "replicas after it has gone", int32(5), *f.box("web").Spec.Replicas)
	f.update(func(stack *modelv1.ModelStack) { stack.Spec.Components[0].Box.Replicas = ptr.To[int32](3) })
	f.reconcile()
	check(t, "replicas of another number in the stack", int32(3), *f.box("web").Spec.Replicas)
}

// The API leaves the number of pods of a box to its own autoscaler: a stack that kept asking for another would do so in vain.
func TestReplicasAreLeftToTheOwnAutoscalerOfTheBox(t *testing.T) {
	web := boxComponent("web")
	web.Box.Replicas = ptr.To[int32](2)
	web.Box.Autoscaling = &modelv1.ModelBoxAutoscaling{MaxReplicas: 9, CPU: ptr.To[int32](70)}
	f := newTestController(t, newStack(web))
	f.reconcile()
	check(t, "replicas at first", int32(2), *f.box("web").Spec.Replicas)
	f.settle()
	f.changeBox("web", func(box *modelv1.ModelBox) { box.Spec.Replicas = ptr.To[int32](5) })
	check(t, "writes after the autoscaler's", []string(nil), f.reconcile())
	f.update(func(stack *modelv1.ModelStack) { stack.Spec.Components[0].Box.Replicas = ptr.To[int32](3) })
	f.reconcile()
	check(t, "replicas after another number in the stack", int32(5), *f.box("web").Spec.Replicas)
	f.update(func(stack *modelv1.ModelStack) { stack.Spec.Components[0].Box.Replicas = ptr.To[int32](0) })
	f.reconcile()
	check(t, "replicas of a box that is stopped", int32(0), *f.box("web").Spec.Replicas)
	f.update(func(stack *modelv1.ModelStack) { stack.Spec.Components[0].Box.Replicas = ptr.To[int32](3) })
	f.reconcile()
	check(t, "replicas of a box that is started", int32(3), *f.box("web").Spec.Replicas)
}
