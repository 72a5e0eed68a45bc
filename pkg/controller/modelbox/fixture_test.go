// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"errors"
	"os"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	boxfake "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/fake"
	modellisters "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/listers/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

const webUID = "4ec5d55a-0000-4000-8000-000000000000"

// webBox returns the box that testdata holds, with the given changes, defaulted.
func webBox(t testing.TB, changes ...func(*modelv1.ModelBox)) *modelv1.ModelBox {
	t.Helper()
	box := &modelv1.ModelBox{}
	read(t, "testdata/web.box.yaml", box)
	box.Namespace, box.UID, box.Generation = metav1.NamespaceDefault, webUID, 3
	for _, change := range changes {
		change(box)
	}
	modelv1.SetObjectDefaults_ModelBox(box)
	return box
}

// liveDeployment and liveService return the children of webBox as a cluster has them: with everything that its API
// server, its controllers and somebody's injector added.
func liveDeployment(t testing.TB, changes ...func(*appsv1.Deployment)) *appsv1.Deployment {
	t.Helper()
	deployment := &appsv1.Deployment{}
	read(t, "testdata/web.live-deployment.yaml", deployment)
	ownHash(t, deployment)
	setRecord(t, webBox(t), deployment)
	for _, change := range changes {
		change(deployment)
	}
	return deployment
}

func liveService(t testing.TB, changes ...func(*corev1.Service)) *corev1.Service {
	t.Helper()
	service := &corev1.Service{}
	read(t, "testdata/web.live-service.yaml", service)
	ownHash(t, service)
	for _, change := range changes {
		change(service)
	}
	return service
}

func read(t testing.TB, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := utilyaml.UnmarshalStrict(data, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

func children(t testing.TB, box *modelv1.ModelBox) []*unstructured.Unstructured {
	t.Helper()
	children, err := render.Children(box, render.ScaledByBox)
	if err != nil {
		t.Fatal(err)
	}
	return children
}

// renderedKind returns the child of the box that is of the kind.
func renderedKind(t testing.TB, box *modelv1.ModelBox, kind string) *unstructured.Unstructured {
	t.Helper()
	for _, child := range children(t, box) {
		if child.GetKind() == kind {
			return child
		}
	}
	t.Fatalf("the box renders no %s", kind)
	return nil
}

// setHash says that the child was last written from what the box says now.
func setHash(t testing.TB, box *modelv1.ModelBox, live child) {
	t.Helper()
	rendered := renderedKind(t, box, live.GetObjectKind().GroupVersionKind().Kind)
	annotations := live.GetAnnotations()
	annotations[modelv1.RenderHashAnnotation] = render.Hash(rendered)
	setRecord(t, box, live)
	live.SetAnnotations(annotations)
	owned, err := newComparer().ownedFields(rendered)
	if err != nil {
		t.Fatal(err)
	}
	live.SetManagedFields([]metav1.ManagedFieldsEntry{managedBy(t, live, render.ManagedBy, metav1.ManagedFieldsOperationApply, owned)})
}

// setRecord gives the child, if it is a Deployment, the record of the box.
func setRecord(t testing.TB, box *modelv1.ModelBox, live child) {
	t.Helper()
	if deployment, ok := live.(*appsv1.Deployment); ok {
		value, err := render.Record(box)
		if err != nil {
			t.Fatal(err)
		}
		deployment.Annotations[modelv1.RecordAnnotation] = value
	}
}

// ownHash says that the child was last written by us, from whatever its hash says.
func ownHash(t testing.TB, live child) {
	t.Helper()
	live.SetManagedFields([]metav1.ManagedFieldsEntry{
		managedBy(t, live, render.ManagedBy, metav1.ManagedFieldsOperationApply, fieldpath.NewSet(renderHashPath)),
	})
}

// managedBy is an entry of the managed fields of the child.
func managedBy(t testing.TB, live child, manager string, operation metav1.ManagedFieldsOperationType, set *fieldpath.Set) metav1.ManagedFieldsEntry {
	t.Helper()
	fields, err := encodeFields(set)
	if err != nil {
		t.Fatal(err)
	}
	return metav1.ManagedFieldsEntry{
		Manager:    manager,
		Operation:  operation,
		APIVersion: live.GetObjectKind().GroupVersionKind().GroupVersion().String(),
		FieldsType: "FieldsV1",
		FieldsV1:   fields,
	}
}

// fixture is a controller between two fake servers whose caches only move when a test says so.
type fixture struct {
	*Controller
	boxes    *boxfake.Clientset
	cluster  *fake.Clientset
	boxCache cache.Indexer
	events   chan string
}

// newFixture returns a controller that sees the box, and a cluster with the given objects that it does not see.
func newFixture(t *testing.T, box *modelv1.ModelBox, inCluster ...runtime.Object) *fixture {
	t.Helper()
	f := &fixture{
		boxes:    boxfake.NewSimpleClientset(),
		cluster:  fake.NewClientset(inCluster...),
		boxCache: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{}),
	}
	if box != nil {
		// Not through NewSimpleClientset, which takes the plural for "modelboxs".
		if _, err := f.boxes.ModelV1().ModelBoxes(box.Namespace).Create(t.Context(), box.DeepCopy(), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		f.boxes.ClearActions()
		f.cache(t, box.DeepCopy())
	}
	controller, err := New(t.Context(), f.boxes, f.cluster, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	f.cluster.PrependWatchReactor("*", func(action clienttesting.Action) (bool, watch.Interface, error) {
		// Names that are taken are watched beside what a test does.
		isOne := action.(clienttesting.WatchAction).GetWatchRestrictions().Fields.String() != ""
		return isOne, nil, errors.New("this cluster lets nobody watch a single object")
	})
	recorder := events.NewFakeRecorder(100)
	controller.recorder = recorder
	controller.boxLister = modellisters.NewModelBoxLister(f.boxCache)
	f.Controller, f.events = controller, recorder.Events
	return f
}

// cache lets the controller see the objects.
func (f *fixture) cache(t *testing.T, objects ...runtime.Object) {
	t.Helper()
	for _, object := range objects {
		store := f.boxCache
		switch object := object.(type) {
		case *appsv1.Deployment, *corev1.Service:
			for _, kind := range f.kinds {
				if kind.kind == object.GetObjectKind().GroupVersionKind() {
					store = kind.informer.GetIndexer()
				}
			}
		case *corev1.Pod:
			store = f.pods
		case *autoscalingv2.HorizontalPodAutoscaler:
			store = f.autoscalers
		}
		if err := store.Update(object); err != nil {
			t.Fatal(err)
		}
	}
}

// told returns the events that were recorded since the last call.
func (f *fixture) told() []string {
	var told []string
	for {
		select {
		case event := <-f.events:
			told = append(told, event)
		default:
			return told
		}
	}
}

// completeDeployment returns a Deployment of two replicas whose rollout is complete.
func completeDeployment(changes ...func(*appsv1.Deployment)) *appsv1.Deployment {
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: metav1.NamespaceDefault, Generation: 5},
		Spec:       appsv1.DeploymentSpec{Replicas: ptr.To[int32](2)},
		Status: appsv1.DeploymentStatus{
			ObservedGeneration: 5,
			Replicas:           2,
			UpdatedReplicas:    2,
			ReadyReplicas:      2,
			AvailableReplicas:  2,
			Conditions: []appsv1.DeploymentCondition{
				{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"},
				{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Reason: "MinimumReplicasAvailable", Message: "Deployment has minimum availability."},
			},
		},
	}
	for _, change := range changes {
		change(deployment)
	}
	return deployment
}

// pausedBy lets the field manager pause the Deployment, nobody known where it is empty.
func pausedBy(manager string) func(*appsv1.Deployment) {
	return func(deployment *appsv1.Deployment) {
		deployment.Spec.Paused = true
		deployment.ManagedFields = append(deployment.ManagedFields, metav1.ManagedFieldsEntry{
			Manager: "kube-controller-manager", FieldsV1: metav1.NewFieldsV1(`{"f:status":{"f:replicas":{}}}`)})
		if manager != "" {
			deployment.ManagedFields = append(deployment.ManagedFields, metav1.ManagedFieldsEntry{
				Manager: manager, FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:paused":{}}}`)})
		}
	}
}

// newPod returns a running pod of webBox.
func newPod(name string, changes ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceDefault, Labels: map[string]string{modelv1.SelectorLabel: "web"}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
	for _, change := range changes {
		change(pod)
	}
	return pod
}

// waiting adds a container that waits for the reason.
func waiting(container, reason, message string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
			Name:  container,
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
		})
	}
}

// synced are whether the caches of the controller have synced.
func (c *Controller) synced() []cache.InformerSynced {
	var synced []cache.InformerSynced
	for _, health := range c.caches {
		synced = append(synced, health.hasSynced)
	}
	return synced
}
