// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	clienttesting "k8s.io/client-go/testing"
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

// A foreground deletion keeps a box until its pods are gone.
func TestABoxIsDeletedAfterItsPods(t *testing.T) {
	f := newTestController(t, newStack(boxComponent("db"), boxComponent("cache"), outside("mail", "192.0.2.1")))
	f.settle()
	got := map[string]metav1.DeletionPropagation{}
	note := func(action clienttesting.Action) (bool, runtime.Object, error) {
		deletion := action.(clienttesting.DeleteActionImpl)
		got[deletion.Resource.Resource+" "+deletion.Name] = *deletion.DeleteOptions.PropagationPolicy
		return false, nil, nil
	}
	f.models.PrependReactor("delete", "modelboxes", note)
	f.cluster.PrependReactor("delete", "services", note)
	f.update(func(stack *modelv1.ModelStack) { stack.Spec.Components = stack.Spec.Components[:1] })
	f.reconcile()
	check(t, "propagation", map[string]metav1.DeletionPropagation{
		"modelboxes cache": metav1.DeletePropagationForeground,
		"services mail":    metav1.DeletePropagationBackground,
	}, got)
}

func TestAnAdoptedBoxKeepsItsReplicas(t *testing.T) {
	stack := newStack(boxComponent("web"))
	stack.Annotations = map[string]string{modelv1.AdoptAnnotation: "true"}
	f := newTestController(t, stack)
	f.inCluster(&modelv1.ModelBox{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: shopKey.Namespace, UID: "adopted", ResourceVersion: "7"},
		Spec:       modelv1.ModelBoxSpec{Image: "web:0", Replicas: ptr.To[int32](5)},
	})
	f.reconcile()
	box := f.box("web")
	check(t, "the stack controls the box", true, metav1.IsControlledBy(box, stack))
	check(t, "UID", types.UID("adopted"), box.UID)
	check(t, "image", "web:1", box.Spec.Image)
	check(t, "replicas", int32(5), *box.Spec.Replicas)
}

func TestAnAdoptedServiceKeepsItsAddresses(t *testing.T) {
	stack := newStack(outside("mail", "192.0.2.1"))
	stack.Annotations = map[string]string{modelv1.AdoptAnnotation: "true"}
	f := newTestController(t, stack)
	allocated := corev1.ServiceSpec{
		ClusterIP: "10.0.0.7", ClusterIPs: []string{"10.0.0.7"},
		IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol}, IPFamilyPolicy: ptr.To(corev1.IPFamilyPolicySingleStack),
	}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "mail", Namespace: shopKey.Namespace, UID: "adopted", ResourceVersion: "7"}, Spec: allocated}
	service.Spec.SessionAffinity = corev1.ServiceAffinityClientIP
	f.inCluster(service)
	f.reconcile()
	adopted, err := f.cluster.CoreV1().Services(shopKey.Namespace).Get(t.Context(), "mail", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	check(t, "the stack controls the Service", true, metav1.IsControlledBy(adopted, stack))
	check(t, "UID", types.UID("adopted"), adopted.UID)
	want := allocated
	want.Type = corev1.ServiceTypeClusterIP
	want.Ports = []corev1.ServicePort{{Protocol: corev1.ProtocolTCP, Port: 80, TargetPort: intstr.FromInt32(80)}}
	check(t, "spec, without the fields that the stack could set", want, adopted.Spec)
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
