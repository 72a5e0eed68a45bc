// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	gatewayfake "sigs.k8s.io/gateway-api/pkg/client/clientset/versioned/fake"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/informers"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/rollouts"
	boxfake "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/fake"
	modellisters "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/listers/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// testController is a controller between two fake servers whose caches only move when a test says so.
type testController struct {
	*Controller
	boxes     *boxfake.Clientset
	cluster   *fixture.Cluster
	gateway   *gatewayfake.Clientset
	informers *informers.Factories
	routes    *kinds.RouteInformers
	boxCache  cache.Indexer
	events    chan string
	// prometheus is the Prometheus of the next controller, nil for none.
	prometheus rollouts.Prometheus
}

// newTestController returns a controller that sees the box, and a cluster with the given objects that it does not see.
func newTestController(t *testing.T, box *modelv1.ModelBox, inCluster ...runtime.Object) *testController {
	t.Helper()
	f := &testController{
		boxes:    boxfake.NewSimpleClientset(),
		cluster:  fixture.NewCluster(inCluster...),
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
	f.newController(t)
	f.cluster.PrependWatchReactor("*", func(action clienttesting.Action) (bool, watch.Interface, error) {
		// Names that are taken are watched beside what a test does.
		isOne := action.(clienttesting.WatchAction).GetWatchRestrictions().Fields.String() != ""
		return isOne, nil, errors.New("this cluster denies watches of a single object")
	})
	f.boxLister = modellisters.NewModelBoxLister(f.boxCache)
	f.Status.List = f.boxLister.List
	f.restart()
	return f
}

// restart lets the controller forget what only the memory of its process has.
func (f *testController) restart() { f.setEngine(f.newEngine()) }

// newController gives the test a controller of its clients, with one worker.
func (f *testController) newController(t testing.TB) {
	t.Helper()
	f.informers = informers.NewFactories(f.boxes, f.cluster, time.Hour, kinds.TrimChild)
	if f.gateway == nil {
		f.gateway = gatewayfake.NewClientset()
	}
	var err error
	if f.routes, err = kinds.NewRouteInformers(f.gateway); err != nil {
		t.Fatal(err)
	}
	f.informers.AddOptional(f.routes.HTTPRoutes)
	f.informers.AddOptional(f.routes.GRPCRoutes)
	recorder := events.NewFakeRecorder(100)
	controller, err := New(ControllerParameters{
		ModelClient:      f.boxes,
		KubeClient:       f.cluster,
		GatewayClient:    f.gateway,
		Boxes:            f.informers.Model.Model().V1().ModelBoxes(),
		Children:         f.informers.Children,
		IngressClasses:   f.informers.Kube.Networking().V1().IngressClasses(),
		Routes:           f.routes,
		Pods:             f.informers.Pods.Core().V1().Pods(),
		Autoscalers:      f.informers.Kube.Autoscaling().V2().HorizontalPodAutoscalers(),
		MountFailures:    f.informers.MountFailures.Events().V1().Events(),
		CreationFailures: f.informers.CreationFailures.Events().V1().Events(),
		Prometheus:       f.prometheus,
		CacheHealth:      f.informers.Health,
		Recorder:         recorder,
		Clock:            clock.RealClock{},
		ConcurrentSyncs:  1,
	})
	if err != nil {
		t.Fatal(err)
	}
	f.Controller, f.events = controller, recorder.Events
}

// run runs the controller with its informers.
func (f *testController) run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	f.informers.Start(ctx)
	defer f.informers.Shutdown()
	defer stop()
	return f.Controller.Run(ctx)
}

// cache lets the controller see the objects.
func (f *testController) cache(t *testing.T, objects ...runtime.Object) {
	t.Helper()
	for _, object := range objects {
		store := f.boxCache
		switch object := object.(type) {
		case *appsv1.Deployment, *appsv1.StatefulSet, *appsv1.DaemonSet, *corev1.Service, *corev1.ConfigMap, *networkingv1.Ingress, *policyv1.PodDisruptionBudget:
			store = f.kind(object.GetObjectKind().GroupVersionKind().Kind).Informer.GetIndexer()
		case *corev1.Pod:
			if err := f.pods.Update(informers.TrimPod(object.DeepCopy())); err != nil {
				t.Fatal(err)
			}
			continue
		case *autoscalingv2.HorizontalPodAutoscaler:
			store = f.autoscalers
			if object.Labels[render.ManagedByLabel] == render.ManagedBy {
				store = f.kind("HorizontalPodAutoscaler").Informer.GetIndexer()
			}
		}
		if err := store.Update(object); err != nil {
			t.Fatal(err)
		}
	}
}

// kind returns the kind of children of that name.
func (f *testController) kind(name string) *children.Kind {
	return f.kinds[slices.IndexFunc(f.kinds, func(kind *children.Kind) bool { return kind.GroupVersionKind.Kind == name })]
}

// told returns the events that were recorded since the last call.
func (f *testController) told() []string {
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

// workloadOf is asWorkload of a Deployment that may be nil.
func workloadOf(deployment *appsv1.Deployment) kinds.Workload {
	if deployment == nil {
		return nil
	}
	return kinds.AsWorkload(deployment)
}

// pausedBy lets the field manager pause the Deployment. The manager is not known if the name is empty.
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

// ofJob makes it a pod of the Job.
func ofJob(name string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Labels[batchv1.JobNameLabel] = name }
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
