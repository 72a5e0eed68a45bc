// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	testingclock "k8s.io/utils/clock/testing"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/networkattachment"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/informers"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
	modelfake "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/fake"
	modellisters "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/listers/model/v1"
)

var lanKey = types.NamespacedName{Namespace: metav1.NamespaceDefault, Name: "lan"}

func newNetwork(changes ...func(*modelv1.Network)) *modelv1.Network {
	network := &modelv1.Network{
		ObjectMeta: metav1.ObjectMeta{Namespace: lanKey.Namespace, Name: lanKey.Name, UID: "lan-1", Generation: 1},
		Spec:       modelv1.NetworkSpec{CIDR: "10.10.0.0/24", Gateway: "10.10.0.1"},
	}
	for _, change := range changes {
		change(network)
	}
	modelv1.SetObjectDefaults_Network(network)
	return network
}

func protected(network *modelv1.Network) {
	network.Finalizers = []string{modelv1.NetworkProtectionFinalizer}
}

func deleted(network *modelv1.Network) {
	network.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
}

func newBox(name string, networks ...string) *modelv1.ModelBox {
	return &modelv1.ModelBox{
		ObjectMeta: metav1.ObjectMeta{Namespace: lanKey.Namespace, Name: name},
		Spec:       modelv1.ModelBoxSpec{Networks: networks},
	}
}

// newPod returns a running pod of a box, as the cache has it.
func newPod(box, name, status string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: lanKey.Namespace, Name: name,
			Labels:      map[string]string{modelv1.SelectorLabel: box},
			Annotations: map[string]string{networkattachment.StatusAnnotation: status},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

// testController is a controller of a cluster that does not serve NetworkAttachmentDefinitions, and whose caches only move when
// a test says so.
type testController struct {
	*Controller
	t            *testing.T
	models       *modelfake.Clientset
	networkCache cache.Indexer
	clock        *testingclock.FakePassiveClock
	events       chan string
}

func newTestController(t *testing.T, network *modelv1.Network) *testController {
	t.Helper()
	f := &testController{
		t:            t,
		models:       modelfake.NewSimpleClientset(),
		networkCache: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{}),
		clock:        testingclock.NewFakePassiveClock(time.Now().Truncate(time.Second)),
	}
	listKinds := map[schema.GroupVersionResource]string{networkattachment.Resource: networkattachment.Kind.Kind + "List"}
	dynamicClient := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), listKinds)
	definitions, err := NewDefinitionInformer(dynamicClient)
	if err != nil {
		t.Fatal(err)
	}
	factories := informers.NewFactories(f.models, fake.NewClientset(), time.Hour, func(obj any) (any, error) { return obj, nil })
	recorder := events.NewFakeRecorder(100)
	if f.Controller, err = New(ControllerParameters{
		ModelClient:   f.models,
		DynamicClient: dynamicClient,
		Networks:      factories.Model.Model().V1().Networks(),
		Boxes:         factories.Model.Model().V1().ModelBoxes(),
		Pods:          factories.Pods.Core().V1().Pods(),
		Definitions:   definitions,
		CacheHealth:   factories.Health,
		Recorder:      recorder,
		Clock:         f.clock,
	}); err != nil {
		t.Fatal(err)
	}
	f.events = recorder.Events
	f.networkLister = modellisters.NewNetworkLister(f.networkCache)
	if _, err := f.models.ModelV1().Networks(network.Namespace).Create(t.Context(), network, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	f.catchUp()
	return f
}

// network is as the server has it.
func (f *testController) network() *modelv1.Network {
	f.t.Helper()
	network, err := f.models.ModelV1().Networks(lanKey.Namespace).Get(f.t.Context(), lanKey.Name, metav1.GetOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	return network
}

// catchUp lets the cache of networks see what the server has, and forgets the requests until then.
func (f *testController) catchUp() {
	f.t.Helper()
	if err := f.networkCache.Replace([]any{f.network()}, ""); err != nil {
		f.t.Fatal(err)
	}
	f.models.ClearActions()
}

// cache lets the controller see boxes and pods.
func (f *testController) cache(objects ...any) {
	f.t.Helper()
	for _, object := range objects {
		store := f.boxes
		if _, isPod := object.(*corev1.Pod); isPod {
			store = f.pods
		}
		if err := store.Update(object); err != nil {
			f.t.Fatal(err)
		}
	}
}

// reconcile reconciles the network when no status is put off, lets the cache catch up, and returns the writes, as "patch" or
// "update status".
func (f *testController) reconcile() []string {
	f.t.Helper()
	f.clock.SetTime(f.clock.Now().Add(reconciler.ProgressPeriod))
	if _, err := f.Controller.ReconcileKey(f.t.Context(), lanKey); err != nil {
		f.t.Fatal(err)
	}
	var writes []string
	for _, action := range f.models.Actions() {
		switch {
		case action.GetVerb() == "get" || action.GetVerb() == "list":
		case action.GetSubresource() != "":
			writes = append(writes, action.GetVerb()+" "+action.GetSubresource())
		default:
			writes = append(writes, action.GetVerb())
		}
	}
	f.catchUp()
	return writes
}

// condition is the status, the reason and the message of a condition of the network.
func (f *testController) condition(conditionType string) string {
	f.t.Helper()
	condition := meta.FindStatusCondition(f.network().Status.Conditions, conditionType)
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
