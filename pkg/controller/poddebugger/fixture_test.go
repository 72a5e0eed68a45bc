// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package poddebugger

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	testingclock "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/informers"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
	modelfake "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/fake"
	modellisters "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/listers/model/v1"
	poddebuggerrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/poddebugger"
)

var toolsKey = types.NamespacedName{Namespace: metav1.NamespaceDefault, Name: "tools"}

// created is when everything was.
var created = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func newDebugger(changes ...func(*modelv1.PodDebugger)) *modelv1.PodDebugger {
	debugger := &modelv1.PodDebugger{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: toolsKey.Namespace, Name: toolsKey.Name, UID: "tools-1", Generation: 1, CreationTimestamp: metav1.NewTime(created),
		},
		Spec: modelv1.PodDebuggerSpec{Selector: metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}, Image: "busybox:1.37"},
	}
	for _, change := range changes {
		change(debugger)
	}
	modelv1.SetObjectDefaults_PodDebugger(debugger)
	return debugger
}

func withMaxPods(pods int32) func(*modelv1.PodDebugger) {
	return func(debugger *modelv1.PodDebugger) { debugger.Spec.MaxPods = ptr.To(pods) }
}

func withTime(seconds int32) func(*modelv1.PodDebugger) {
	return func(debugger *modelv1.PodDebugger) { debugger.Spec.TTLSecondsAfterCreation = ptr.To(seconds) }
}

func restarting(debugger *modelv1.PodDebugger) {
	debugger.Spec.WhenDeleted = modelv1.PodDebuggerRestartBoxes
}

func protected(debugger *modelv1.PodDebugger) {
	debugger.Finalizers = []string{modelv1.PodDebuggerRestartFinalizer}
}

func deleted(debugger *modelv1.PodDebugger) {
	debugger.DeletionTimestamp = &metav1.Time{Time: created.Add(time.Hour)}
}

var containerName = poddebuggerrender.ContainerName(newDebugger())

// newPod returns a running pod that is selected, so many seconds old when the PodDebugger is created.
func newPod(name string, age int, changes ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: toolsKey.Namespace, Name: name, UID: types.UID(name + "-uid"), Labels: map[string]string{"app": "a"},
			CreationTimestamp: metav1.NewTime(created.Add(-time.Duration(age) * time.Second)),
		},
		Spec:   corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx"}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	for _, change := range changes {
		change(pod)
	}
	return pod
}

// debugged has the container, in that state where there is one.
func debugged(states ...corev1.ContainerState) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: containerName}}}
		for _, state := range states {
			pod.Status.EphemeralContainerStatuses = append(pod.Status.EphemeralContainerStatuses, corev1.ContainerStatus{Name: containerName, State: state})
		}
	}
}

func labelled(app string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Labels = map[string]string{"app": app} }
}

// ofBox has what pods of the box have.
func ofBox(name string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Labels[modelv1.SelectorLabel] = name
		pod.OwnerReferences = controlledBy("apps/v1", "ReplicaSet", name+"-1", types.UID(name+"-rs"))
	}
}

// controlledBy are the owner references of an object with that controller.
func controlledBy(apiVersion, kind, name string, uid types.UID) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, UID: uid, Controller: ptr.To(true)}}
}

// testController is a controller whose cache of PodDebuggers changes only when a test says so. The cache of pods follows
// automatically.
type testController struct {
	*Controller
	t             *testing.T
	models        *modelfake.Clientset
	cluster       *fake.Clientset
	debuggerCache cache.Indexer
	boxCache      cache.Indexer
	clock         *testingclock.FakePassiveClock
	events        chan string
}

func newTestController(t *testing.T, debugger *modelv1.PodDebugger, pods ...*corev1.Pod) *testController {
	t.Helper()
	f := &testController{
		t:             t,
		models:        modelfake.NewSimpleClientset(),
		cluster:       fake.NewClientset(),
		debuggerCache: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}),
		boxCache:      cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}),
		clock:         testingclock.NewFakePassiveClock(created),
	}
	factories := informers.NewFactories(f.models, f.cluster, time.Hour, func(obj any) (any, error) { return obj, nil })
	recorder := events.NewFakeRecorder(100)
	var err error
	if f.Controller, err = New(ControllerParameters{
		ModelClient:  f.models,
		KubeClient:   f.cluster,
		PodDebuggers: factories.Model.Model().V1().PodDebuggers(),
		Boxes:        factories.Model.Model().V1().ModelBoxes(),
		CacheHealth:  factories.Health,
		Recorder:     recorder,
		Clock:        f.clock,
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.pods.shutDown)
	f.events = recorder.Events
	f.debuggerLister = modellisters.NewPodDebuggerLister(f.debuggerCache)
	f.boxLister = modellisters.NewModelBoxLister(f.boxCache)
	if _, err := f.models.ModelV1().PodDebuggers(debugger.Namespace).Create(t.Context(), debugger, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, pod := range pods {
		f.createPod(pod)
	}
	f.catchUp()
	return f
}

func (f *testController) createPod(pod *corev1.Pod) {
	f.t.Helper()
	if _, err := f.cluster.CoreV1().Pods(pod.Namespace).Create(f.t.Context(), pod, metav1.CreateOptions{}); err != nil {
		f.t.Fatal(err)
	}
}

// createBox creates a box that the cache has, with its Deployment and the ReplicaSet of that.
func (f *testController) createBox(name string) {
	f.t.Helper()
	box := &modelv1.ModelBox{
		ObjectMeta: metav1.ObjectMeta{Namespace: toolsKey.Namespace, Name: name, UID: types.UID(name + "-box")},
		Spec:       modelv1.ModelBoxSpec{Workload: modelv1.WorkloadDeployment},
	}
	labels := map[string]string{modelv1.SelectorLabel: name}
	for _, object := range []runtime.Object{
		&appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: box.Namespace, Name: name, UID: types.UID(name + "-deployment"), OwnerReferences: controlledBy("model.github.com/v1", "ModelBox", name, box.UID),
			},
			Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}},
		},
		&appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{
			Namespace: box.Namespace, Name: name + "-1", UID: types.UID(name + "-rs"), Labels: labels,
			OwnerReferences: controlledBy("apps/v1", "Deployment", name, types.UID(name+"-deployment")),
		}},
	} {
		if err := f.cluster.Tracker().Add(object); err != nil {
			f.t.Fatal(err)
		}
	}
	if _, err := f.models.ModelV1().ModelBoxes(box.Namespace).Create(f.t.Context(), box, metav1.CreateOptions{}); err != nil {
		f.t.Fatal(err)
	}
	if err := f.boxCache.Add(box); err != nil {
		f.t.Fatal(err)
	}
}

// debugger is as the server has it.
func (f *testController) debugger() *modelv1.PodDebugger {
	f.t.Helper()
	debugger, err := f.models.ModelV1().PodDebuggers(toolsKey.Namespace).Get(f.t.Context(), toolsKey.Name, metav1.GetOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	return debugger
}

// catchUp lets the cache of PodDebuggers see what the server has.
func (f *testController) catchUp() {
	f.t.Helper()
	if err := f.debuggerCache.Replace([]any{f.debugger()}, ""); err != nil {
		f.t.Fatal(err)
	}
}

// reconcile reconciles once the cache of pods has so many of them, of which so many have the container, and lets the cache of
// PodDebuggers see what came of it. No status is put off. It returns after how long to look again.
func (f *testController) reconcile(pods, withContainer int) time.Duration {
	f.t.Helper()
	cached, err := f.pods.get(toolsKey.Namespace)
	if err != nil {
		f.t.Fatal(err)
	}
	if err := wait.PollUntilContextTimeout(f.t.Context(), time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		synced, _ := cached.hasSynced()
		count := 0
		for _, pod := range cached.list() {
			if hasContainer(pod, containerName) {
				count++
			}
		}
		return synced && len(cached.list()) == pods && count == withContainer, nil
	}); err != nil {
		f.t.Fatalf("the cache of pods: %v", err)
	}
	delay, err := f.Controller.ReconcileKey(f.t.Context(), toolsKey)
	if err != nil {
		f.t.Fatal(err)
	}
	f.Pace = reconciler.NewStatusPace(f.clock)
	f.catchUp()
	return delay
}

// patched returns which pods a container was asked for since the last call.
func (f *testController) patched() []string {
	var names []string
	for _, action := range f.cluster.Actions() {
		if patch, ok := action.(interface{ GetName() string }); ok && action.Matches("patch", "pods/ephemeralcontainers") {
			names = append(names, patch.GetName())
		}
	}
	f.cluster.ClearActions()
	return names
}

// condition is the status, the reason and the message of a condition of the PodDebugger.
func (f *testController) condition(conditionType string) string {
	f.t.Helper()
	condition := meta.FindStatusCondition(f.debugger().Status.Conditions, conditionType)
	if condition == nil {
		return "none"
	}
	return string(condition.Status) + " " + condition.Reason + ": " + condition.Message
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

func check(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s, -want +got:\n%s", what, diff)
	}
}

var errRefused = errors.New("violates the policy of the house")
