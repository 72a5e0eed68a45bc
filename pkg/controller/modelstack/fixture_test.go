// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	testingclock "k8s.io/utils/clock/testing"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/informers"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
	modelfake "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/fake"
	modellisters "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/listers/model/v1"
)

var shopKey = types.NamespacedName{Namespace: metav1.NamespaceDefault, Name: "shop"}

// boxComponent is a component with a box of one port that depends on others.
func boxComponent(name string, dependsOn ...string) modelv1.ModelStackComponent {
	return modelv1.ModelStackComponent{
		Name:      name,
		BoxName:   name,
		DependsOn: dependsOn,
		Box:       &modelv1.ModelBoxSpec{Image: name + ":1", Ports: []corev1.ServicePort{{Port: 80}}},
	}
}

// outside is a component that is not run by the stack.
func outside(name, host string, dependsOn ...string) modelv1.ModelStackComponent {
	return modelv1.ModelStackComponent{
		Name:      name,
		BoxName:   name,
		DependsOn: dependsOn,
		External:  &modelv1.ModelStackExternal{Host: host, Port: 80},
	}
}

func newStack(components ...modelv1.ModelStackComponent) *modelv1.ModelStack {
	stack := &modelv1.ModelStack{
		ObjectMeta: metav1.ObjectMeta{Name: shopKey.Name, Namespace: shopKey.Namespace, UID: "shop-1", Generation: 1},
		Spec:       modelv1.ModelStackSpec{Components: components},
	}
	modelv1.SetObjectDefaults_ModelStack(stack)
	return stack
}

// testController is a controller between two fake servers whose caches only move when a test says so.
type testController struct {
	*Controller
	t          *testing.T
	models     *modelfake.Clientset
	cluster    *fake.Clientset
	stackCache cache.Indexer
	clock      *testingclock.FakePassiveClock
	events     chan string
	// recordWrites are the verbs of what the last reconcile did about records.
	recordWrites []string
}

func newTestController(t *testing.T, stack *modelv1.ModelStack) *testController {
	t.Helper()
	f := &testController{
		t:          t,
		models:     modelfake.NewSimpleClientset(),
		cluster:    fake.NewClientset(),
		stackCache: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{}),
		clock:      testingclock.NewFakePassiveClock(time.Now().Truncate(time.Second)),
	}
	for _, client := range []interface {
		PrependWatchReactor(string, clienttesting.WatchReactionFunc)
	}{f.models, f.cluster} {
		client.PrependWatchReactor("*", func(clienttesting.Action) (bool, watch.Interface, error) {
			return true, nil, errors.New("names that are taken are watched beside what a test does")
		})
	}
	f.applyBoxes()
	factories := informers.NewFactories(f.models, f.cluster, time.Hour, func(obj any) (any, error) { return obj, nil })
	recorder := events.NewFakeRecorder(1000)
	controller, err := New(ControllerParameters{
		ModelClient:    f.models,
		KubeClient:     f.cluster,
		Stacks:         factories.Model.Model().V1().ModelStacks(),
		Boxes:          factories.Model.Model().V1().ModelBoxes(),
		Services:       factories.Children.Core().V1().Services(),
		EndpointSlices: factories.Children.Discovery().V1().EndpointSlices(),
		Records:        factories.Records.Apps().V1().ControllerRevisions(),
		Autoscalers:    factories.Kube.Autoscaling().V2().HorizontalPodAutoscalers(),
		CacheHealth:    factories.Health,
		Recorder:       recorder,
		Clock:          f.clock,
	})
	if err != nil {
		t.Fatal(err)
	}
	f.Controller, f.events = controller, recorder.Events
	f.stackLister = modellisters.NewModelStackLister(f.stackCache)
	if _, err := f.models.ModelV1().ModelStacks(stack.Namespace).Create(t.Context(), stack, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	f.catchUp()
	return f
}

// stack is as the server has it.
func (f *testController) stack() *modelv1.ModelStack {
	f.t.Helper()
	stack, err := f.models.ModelV1().ModelStacks(shopKey.Namespace).Get(f.t.Context(), shopKey.Name, metav1.GetOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	return stack
}

// update changes the stack as its user does.
func (f *testController) update(change func(*modelv1.ModelStack)) {
	f.t.Helper()
	stack := f.stack()
	change(stack)
	stack.Generation++
	modelv1.SetObjectDefaults_ModelStack(stack)
	if _, err := f.models.ModelV1().ModelStacks(stack.Namespace).Update(f.t.Context(), stack, metav1.UpdateOptions{}); err != nil {
		f.t.Fatal(err)
	}
	f.catchUp()
}

// catchUp lets the caches see what the servers have, and forgets the requests until then.
func (f *testController) catchUp() {
	f.t.Helper()
	ctx := f.t.Context()
	stacks, err := f.models.ModelV1().ModelStacks("").List(ctx, metav1.ListOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	f.replace(f.stackCache, pointers(stacks.Items))
	records, err := f.cluster.AppsV1().ControllerRevisions("").List(ctx, metav1.ListOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	f.replace(f.kinds[0].Informer.GetIndexer(), trimmed(f.kinds[0], records.Items))
	boxes, err := f.models.ModelV1().ModelBoxes("").List(ctx, metav1.ListOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	f.replace(f.kinds[1].Informer.GetIndexer(), trimmed(f.kinds[1], boxes.Items))
	services, err := f.cluster.CoreV1().Services("").List(ctx, metav1.ListOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	f.replace(f.kinds[2].Informer.GetIndexer(), trimmed(f.kinds[2], services.Items))
	slices, err := f.cluster.DiscoveryV1().EndpointSlices("").List(ctx, metav1.ListOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	f.replace(f.kinds[3].Informer.GetIndexer(), trimmed(f.kinds[3], slices.Items))
	f.models.ClearActions()
	f.cluster.ClearActions()
}

func (f *testController) replace(store cache.Indexer, objects []any) {
	f.t.Helper()
	f.replaceAt(store, "", objects...)
}

// replaceAt lets a cache see the objects at a version.
func (f *testController) replaceAt(store cache.Indexer, version string, objects ...any) {
	f.t.Helper()
	if err := store.Replace(objects, version); err != nil {
		f.t.Fatal(err)
	}
}

func pointers[T any](items []T) []any {
	all := make([]any, 0, len(items))
	for i := range items {
		all = append(all, &items[i])
	}
	return all
}

// trimmed are objects as the informers keep them.
func trimmed[T any](kind *children.Kind, items []T) []any {
	all := pointers(items)
	for _, object := range all {
		child := object.(children.Object)
		child.GetObjectKind().SetGroupVersionKind(kind.GroupVersionKind)
		apply.Trim(child)
	}
	return all
}

// reconcile reconciles the stack when no status is put off, lets the caches catch up, and returns the writes.
func (f *testController) reconcile() []string {
	f.t.Helper()
	f.clock.SetTime(f.clock.Now().Add(reconciler.ProgressPeriod))
	return f.reconcileAtOnce()
}

// reconcileAtOnce is reconcile at the time of the last one.
func (f *testController) reconcileAtOnce() []string {
	f.t.Helper()
	if _, err := f.Controller.ReconcileKey(f.t.Context(), shopKey); err != nil {
		f.t.Fatal(err)
	}
	writes := f.writes()
	f.recordWrites = verbsOf(f.cluster.Actions(), "controllerrevisions")
	f.catchUp()
	return writes
}

// verbsOf returns the verbs of the writes of a resource.
func verbsOf(actions []clienttesting.Action, resource string) []string {
	var verbs []string
	for _, action := range actions {
		if verb := action.GetVerb(); action.GetResource().Resource == resource && verb != "get" && verb != "list" {
			verbs = append(verbs, action.GetVerb())
		}
	}
	return verbs
}

// writes returns the writes since the caches caught up, as "patch modelboxes db", without writes of the status and of the record.
func (f *testController) writes() []string {
	var writes []string
	for _, action := range slices.Concat(f.models.Actions(), f.cluster.Actions()) {
		named, isNamed := action.(interface{ GetName() string })
		if !isNamed || action.GetVerb() == "get" || action.GetSubresource() == "status" || action.GetResource().Resource == "controllerrevisions" {
			continue
		}
		writes = append(writes, strings.Join([]string{action.GetVerb(), action.GetResource().Resource, named.GetName()}, " "))
	}
	return writes
}

// settle reconciles until there is nothing left to write, with every box ready at once.
func (f *testController) settle() {
	f.t.Helper()
	for range 20 {
		if len(f.reconcile()) == 0 {
			f.told()
			return
		}
		for _, name := range f.boxes() {
			f.setReady(name)
		}
	}
	f.t.Fatal("it does not end")
}

// boxes are the names of those that there are.
func (f *testController) boxes() []string {
	f.t.Helper()
	boxes, err := f.models.ModelV1().ModelBoxes("").List(f.t.Context(), metav1.ListOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	var names []string
	for _, box := range boxes.Items {
		names = append(names, box.Name)
	}
	slices.Sort(names)
	return names
}

// changeBox changes a box in the server and in the cache.
func (f *testController) changeBox(name string, change func(*modelv1.ModelBox)) {
	f.t.Helper()
	client := f.models.ModelV1().ModelBoxes(shopKey.Namespace)
	box, err := client.Get(f.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	change(box)
	box.ResourceVersion += "0"
	if _, err := client.Update(f.t.Context(), box, metav1.UpdateOptions{FieldManager: "test"}); err != nil {
		f.t.Fatal(err)
	}
	f.catchUp()
}

// setCondition lets the controller of boxes say what becomes of one.
func (f *testController) setCondition(name, conditionType string, status metav1.ConditionStatus, reason string) {
	f.t.Helper()
	f.changeBox(name, func(box *modelv1.ModelBox) {
		box.Status.ObservedGeneration = box.Generation
		meta.SetStatusCondition(&box.Status.Conditions, metav1.Condition{
			Type: conditionType, Status: status, Reason: reason, Message: "m", ObservedGeneration: box.Generation,
		})
	})
}

func (f *testController) setReady(name string) {
	f.t.Helper()
	f.setCondition(name, modelv1.ConditionReady, metav1.ConditionTrue, modelv1.ReasonReady)
}

// setUpdating lets a box work on the update of a new generation, as an API server and a controller do after a write.
func (f *testController) setUpdating(name string) {
	f.t.Helper()
	f.changeBox(name, func(box *modelv1.ModelBox) { box.Generation++ })
}

func (f *testController) fail(name string) {
	f.t.Helper()
	f.setCondition(name, modelv1.ConditionReady, metav1.ConditionFalse, "CrashLoopBackOff")
}

// states returns the states of the components, as "web=Waiting(db)".
func (f *testController) states() string {
	f.t.Helper()
	var states []string
	for _, component := range f.stack().Status.Components {
		state := fmt.Sprintf("%s=%s", component.Name, component.State)
		if len(component.WaitingFor) > 0 {
			state += "(" + strings.Join(component.WaitingFor, ",") + ")"
		}
		states = append(states, state)
	}
	return strings.Join(states, " ")
}

// condition is the status and the reason of a condition of the stack.
func (f *testController) condition(conditionType string) string {
	f.t.Helper()
	condition := meta.FindStatusCondition(f.stack().Status.Conditions, conditionType)
	if condition == nil {
		return "none"
	}
	return string(condition.Status) + " " + condition.Reason
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

// inCluster creates an object that is not the stack's.
func (f *testController) inCluster(object runtime.Object) {
	f.t.Helper()
	var err error
	switch object := object.(type) {
	case *modelv1.ModelBox:
		_, err = f.models.ModelV1().ModelBoxes(object.Namespace).Create(f.t.Context(), object, metav1.CreateOptions{})
	case *corev1.Service:
		_, err = f.cluster.CoreV1().Services(object.Namespace).Create(f.t.Context(), object, metav1.CreateOptions{})
	case *discoveryv1.EndpointSlice:
		_, err = f.cluster.DiscoveryV1().EndpointSlices(object.Namespace).Create(f.t.Context(), object, metav1.CreateOptions{})
	}
	if err != nil {
		f.t.Fatal(err)
	}
	f.catchUp()
}

func check(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s, -want +got:\n%s", what, diff)
	}
}
