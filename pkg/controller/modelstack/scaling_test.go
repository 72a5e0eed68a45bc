// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// autoscalerOf is an autoscaler of an object.
func autoscalerOf(apiVersion, kind, name string) *autoscalingv2.HorizontalPodAutoscaler {
	return &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: shopKey.Namespace},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: apiVersion, Kind: kind, Name: name},
		},
	}
}

func TestStackOfAnAutoscaler(t *testing.T) {
	f := newTestController(t, newStack(boxComponent("web")))
	f.settle()
	f.inCluster(&modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Name: "single", Namespace: shopKey.Namespace, UID: "single"}})
	for _, row := range []struct {
		name       string
		autoscaler metav1.Object
		want       types.NamespacedName
	}{
		{"of a box of the stack", autoscalerOf("model.github.com/v1", "ModelBox", "web"), shopKey},
		{"of a box without a stack", autoscalerOf("model.github.com/v1", "ModelBox", "single"), types.NamespacedName{}},
		{"of a box that does not exist", autoscalerOf("model.github.com/v1", "ModelBox", "db"), types.NamespacedName{}},
		{"of a Deployment with the name of a box", autoscalerOf("apps/v1", "Deployment", "web"), types.NamespacedName{}},
		{"of an invalid API version", autoscalerOf("a/b/c", "ModelBox", "web"), types.NamespacedName{}},
		{"which is another object", &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: shopKey.Namespace}}, types.NamespacedName{}},
	} {
		t.Run(row.name, func(t *testing.T) {
			stack, ok := f.stackOfAutoscaler(row.autoscaler)
			check(t, "stack", row.want, stack)
			check(t, "it is found", row.want != types.NamespacedName{}, ok)
		})
	}
}

// The API server would reset the number of pods that no manager has.
func TestReplicasStayWhenTheBoxGetsAnAutoscaler(t *testing.T) {
	web := boxComponent("web")
	web.Box.Replicas = ptr.To[int32](3)
	f := newTestController(t, newStack(web))
	f.settle()
	if err := f.autoscalers.Add(autoscalerOf("model.github.com/v1", "ModelBox", "web")); err != nil {
		t.Fatal(err)
	}
	f.reconcile()
	check(t, "annotation", "3", f.box("web").Annotations[modelv1.AutoscaledAnnotation])
	check(t, "replicas", int32(3), *f.box("web").Spec.Replicas)
}

func TestReplicasAreLeftToAnAutoscalerOfTheBox(t *testing.T) {
	web := boxComponent("web")
	web.Box.Replicas = ptr.To[int32](2)
	f := newTestController(t, newStack(web))
	f.settle()
	f.changeBox("web", func(box *modelv1.ModelBox) { box.Spec.Replicas = ptr.To[int32](5) })
	autoscaler := autoscalerOf("model.github.com/v1", "ModelBox", "web")
	if err := f.autoscalers.Add(autoscaler); err != nil {
		t.Fatal(err)
	}
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

// A box whose own autoscaling begins or ends has the replicas of the stack.
func TestReplicasOfTheStackCountUnlessBothHaveAutoscaling(t *testing.T) {
	autoscaling := &modelv1.ModelBoxAutoscaling{MaxReplicas: 9, CPU: ptr.To[int32](70)}
	for _, row := range []struct {
		name          string
		before, after *modelv1.ModelBoxAutoscaling
		want          int32
	}{
		{"both", autoscaling, autoscaling, 5},
		{"only the box", autoscaling, nil, 3},
		{"only the stack", nil, autoscaling, 3},
		{"neither", nil, nil, 3},
	} {
		t.Run(row.name, func(t *testing.T) {
			web := boxComponent("web")
			web.Box.Replicas, web.Box.Autoscaling = ptr.To[int32](2), row.before
			f := newTestController(t, newStack(web))
			f.settle()
			f.changeBox("web", func(box *modelv1.ModelBox) { box.Spec.Replicas = ptr.To[int32](5) })
			f.update(func(stack *modelv1.ModelStack) {
				stack.Spec.Components[0].Box.Replicas, stack.Spec.Components[0].Box.Autoscaling = ptr.To[int32](3), row.after
			})
			f.reconcile()
			check(t, "replicas", row.want, *f.box("web").Spec.Replicas)
		})
	}
}
