// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/client-go/kubernetes/fake"
	metadatafake "k8s.io/client-go/metadata/fake"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/networkattachment"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/corruptobject"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/embeddedetcd"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/etcdclient"
)

const testNamespace = "shop"

func TestMain(m *testing.M) {
	revisionMargin = 100
	os.Exit(m.Run())
}

// fixture has an empty store and a fake cluster.
type fixture struct {
	t      *testing.T
	config Config
	store  *Store
	*contents
	cluster *fake.Clientset
	// failed is the error that stopped the server.
	failed error
}

func newFixture(t *testing.T, children ...runtime.Object) *fixture {
	t.Helper()
	return newFixtureIn(t, startEtcd(t), "/registry", children...)
}

// startEtcd starts an empty etcd that stops at the end of the test.
func startEtcd(t testing.TB) storagebackend.TransportConfig {
	t.Helper()
	dir := t.TempDir()
	etcd, err := embeddedetcd.Start(t.Context(), embeddedetcd.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(etcd.Stop)
	endpoint, err := embeddedetcd.Endpoint(dir)
	if err != nil {
		t.Fatal(err)
	}
	return storagebackend.TransportConfig{ServerList: []string{endpoint}}
}

// newFixtureIn is like newFixture, below a prefix of an existing etcd.
func newFixtureIn(t *testing.T, transport storagebackend.TransportConfig, prefix string, children ...runtime.Object) *fixture {
	t.Helper()
	scheme := runtime.NewScheme()
	utilruntime.Must(model.AddToScheme(scheme))
	utilruntime.Must(modelv1.AddToScheme(scheme))
	storageConfig := storagebackend.NewDefaultConfig(prefix, serializer.NewCodecFactory(scheme).LegacyCodec(modelv1.SchemeGroupVersion))
	storageConfig.Transport = transport
	corrupt := &corruptobject.Tracker{}
	optionsOf := func(resource string, example runtime.Object) generic.RESTOptions {
		options, err := corrupt.WithIsolation(generic.RESTOptions{
			StorageConfig:  storageConfig.ForResource(model.Resource(resource)),
			Decorator:      generic.UndecoratedStorage,
			ResourcePrefix: "model.github.com/" + resource,
		}).GetRESTOptions(model.Resource(resource), example)
		if err != nil {
			t.Fatal(err)
		}
		return options
	}
	newClient := func() (*clientv3.Client, error) { return etcdclient.New(transport) }
	client, err := newClient()
	if err != nil {
		t.Fatal(err)
	}
	store := newStore(client, prefix)
	t.Cleanup(func() { _ = store.Close() })

	// The records of stacks are in the data of ControllerRevisions, not in metadata.
	isRevision := func(object runtime.Object) bool {
		_, isRevision := object.(*appsv1.ControllerRevision)
		return isRevision
	}
	var revisions []runtime.Object
	for _, object := range children {
		if isRevision(object) {
			revisions = append(revisions, object)
		}
	}
	children = slices.DeleteFunc(children, isRevision)

	f := &fixture{t: t, store: store, cluster: fake.NewClientset(revisions...)}
	f.config = Config{
		Policy:         Recover,
		NewClient:      newClient,
		Boxes:          optionsOf("modelboxes", &model.ModelBox{}),
		Stacks:         optionsOf("modelstacks", &model.ModelStack{}),
		Networks:       optionsOf("networks", &model.Network{}),
		Corrupt:        corrupt,
		IsExclusive:    true,
		KubeClient:     f.cluster,
		MetadataClient: newMetadataClient(t, children),
		Lease:          types.NamespacedName{Namespace: "modelbox-system", Name: "modelbox-controller"},
		Holder:         "one",
		ObservePeriod:  10 * time.Millisecond,
	}
	if f.contents, err = openContents(store, &f.config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.contents.close)
	return f
}

// newMemoryFixture returns a fixture with a store in memory, which has no storage for objects. It is for a test with a time of its own.
func newMemoryFixture(t *testing.T, children ...runtime.Object) (*fixture, *memoryKV) {
	t.Helper()
	kv := newMemoryKV()
	options := generic.RESTOptions{
		ResourcePrefix: "model.github.com/objects",
		StorageConfig:  &storagebackend.ConfigForResource{Config: storagebackend.Config{Prefix: "/registry"}},
		Decorator:      noStorage(map[string]bool{}, ""),
	}
	f := &fixture{t: t, store: newStore(kv.client(), "/registry"), cluster: fake.NewClientset()}
	f.config = Config{
		Policy: Recover, NewClient: kv.newClient, Boxes: options, Stacks: options, Networks: options, IsExclusive: true,
		KubeClient: f.cluster, MetadataClient: newMetadataClient(t, children),
		Lease: types.NamespacedName{Namespace: "modelbox-system", Name: "modelbox-controller"}, Holder: "one", ObservePeriod: time.Minute,
	}
	var err error
	if f.contents, err = openContents(f.store, &f.config); err != nil {
		t.Fatal(err)
	}
	return f, kv
}

// newMetadataClient returns a fake client with these children. The fake cannot derive the resource of NetworkAttachmentDefinitions
// from their kind.
func newMetadataClient(t *testing.T, children []runtime.Object) *metadatafake.FakeMetadataClient {
	t.Helper()
	scheme := metadatafake.NewTestScheme()
	utilruntime.Must(metav1.AddMetaToScheme(scheme))
	isDefinition := func(object runtime.Object) bool {
		return object.GetObjectKind().GroupVersionKind() == networkattachment.Kind
	}
	client := metadatafake.NewSimpleMetadataClient(scheme, slices.DeleteFunc(slices.Clone(children), isDefinition)...)
	for _, object := range children {
		if !isDefinition(object) {
			continue
		}
		if err := client.Tracker().Create(networkattachment.Resource, object, object.(metav1.Object).GetNamespace()); err != nil {
			t.Fatal(err)
		}
	}
	return client
}

// hostCluster returns the cluster of the fixture.
func (f *fixture) hostCluster() *cluster {
	return &cluster{kube: f.config.KubeClient, metadata: f.config.MetadataClient}
}

// metadataClient returns the fake client of children.
func (f *fixture) metadataClient() *metadatafake.FakeMetadataClient {
	return f.config.MetadataClient.(*metadatafake.FakeMetadataClient)
}

// deleteDeployment deletes a Deployment from the cluster.
func (f *fixture) deleteDeployment(name string) {
	f.t.Helper()
	deployments := f.config.MetadataClient.Resource(appsv1.SchemeGroupVersion.WithResource("deployments")).Namespace(testNamespace)
	if err := deployments.Delete(f.t.Context(), name, metav1.DeleteOptions{}); err != nil {
		f.t.Fatal(err)
	}
}

// attempt makes one attempt to serve from the store.
func (f *fixture) attempt() (*attempt, error) {
	f.t.Helper()
	runner := NewRunner(f.config, func(err error) { f.failed = err })
	a := &attempt{Runner: runner, store: f.store, contents: f.contents}
	served, err := a.run(f.t.Context())
	if err == nil {
		if diff := cmp.Diff(a.position, served, cmp.AllowUnexported(Position{})); diff != "" {
			f.t.Errorf("the position that the server serves from: -want +got:\n%s", diff)
		}
	}
	return a, err
}

// serve makes an attempt that must succeed, and expects the situation.
func (f *fixture) serve(want Situation) Position {
	f.t.Helper()
	a, err := f.attempt()
	if err != nil {
		f.t.Fatal(err)
	}
	if a.situation != want {
		f.t.Errorf("the store is %s, want %s", a.situation, want)
	}
	return a.position
}

// setLease records a store on the Lease in the cluster. No server holds the Lease.
func (f *fixture) setLease(position Position) *coordinationv1.Lease {
	f.t.Helper()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: f.config.Lease.Namespace, Name: f.config.Lease.Name}}
	setMark(lease, position)
	return f.writeLease(lease)
}

func (f *fixture) writeLease(lease *coordinationv1.Lease) *coordinationv1.Lease {
	f.t.Helper()
	leases := f.cluster.CoordinationV1().Leases(lease.Namespace)
	_ = leases.Delete(f.t.Context(), lease.Name, metav1.DeleteOptions{})
	lease, err := leases.Create(f.t.Context(), lease, metav1.CreateOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	return lease
}

func (f *fixture) lease() *coordinationv1.Lease {
	f.t.Helper()
	lease, err := f.cluster.CoordinationV1().Leases(f.config.Lease.Namespace).Get(f.t.Context(), f.config.Lease.Name, metav1.GetOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	return lease
}

// put stores boxes directly.
func (f *fixture) put(boxes ...*modelv1.ModelBox) {
	f.t.Helper()
	for _, box := range boxes {
		stored, err := newBox(box)
		if err != nil {
			f.t.Fatal(err)
		}
		if meta.IsStatusConditionTrue(box.Status.Conditions, modelv1.ConditionApplied) {
			stored.Status.Conditions = box.Status.Conditions
		}
		if err := f.boxes.create(f.t.Context(), stored); err != nil {
			f.t.Fatal(err)
		}
	}
}

// stored returns the boxes in the store by name.
func (f *fixture) stored() map[string]model.ModelBox {
	f.t.Helper()
	list := &model.ModelBoxList{}
	if err := f.boxes.storage.GetList(f.t.Context(), f.boxes.prefix+"/", storage.ListOptions{Predicate: storage.Everything, Recursive: true}, list); err != nil {
		f.t.Fatal(err)
	}
	stored := map[string]model.ModelBox{}
	for _, box := range list.Items {
		stored[box.Name] = box
	}
	return stored
}

// replaced returns the number of copies of replaced boxes in the store.
func (f *fixture) replaced(ctx context.Context) int64 {
	f.t.Helper()
	response, err := f.store.client.Get(ctx, f.store.key("replaced")+"/", clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		f.t.Fatal(err)
	}
	return response.Count
}

// box returns a box whose condition Applied is True.
func box(name string, uid types.UID, changes ...func(*modelv1.ModelBox)) *modelv1.ModelBox {
	box := &modelv1.ModelBox{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: testNamespace, Name: name, UID: uid, Generation: 1,
			CreationTimestamp: metav1.NewTime(time.Unix(1_700_000_000, 0)),
			Labels:            map[string]string{"example.com/applied-by": "gitops"},
		},
		Spec: modelv1.ModelBoxSpec{Image: "nginx:1.7.9"},
	}
	box.Status.Conditions = []metav1.Condition{{Type: modelv1.ConditionApplied, Status: metav1.ConditionTrue, LastTransitionTime: metav1.Now()}}
	modelv1.SetObjectDefaults_ModelBox(box)
	for _, change := range changes {
		change(box)
	}
	return box
}

// atGeneration returns a change of a box to a later generation.
func atGeneration(generation int64) func(*modelv1.ModelBox) {
	return func(box *modelv1.ModelBox) {
		box.Generation = generation
		box.Spec.Image = fmt.Sprintf("nginx:%d", generation)
	}
}

// deploymentOf returns the Deployment of a box.
func deploymentOf(t *testing.T, box *modelv1.ModelBox, changes ...func(*metav1.PartialObjectMetadata)) *metav1.PartialObjectMetadata {
	t.Helper()
	return workloadOf(t, box, "Deployment", changes...)
}

// workloadOf returns a workload of a box. Its kind may differ from the spec of the box.
func workloadOf(t *testing.T, box *modelv1.ModelBox, kind string, changes ...func(*metav1.PartialObjectMetadata)) *metav1.PartialObjectMetadata {
	t.Helper()
	record, err := modelboxrender.Record(box)
	if err != nil {
		t.Fatal(err)
	}
	child := childOf(box, apiVersionOf(kind), kind)
	child.Annotations = map[string]string{modelv1.RecordAnnotation: record}
	for _, change := range changes {
		change(child)
	}
	return child
}

// apiVersionOf returns the API version of a kind of workloads.
func apiVersionOf(kind string) string {
	if modelv1.Workload(kind).RunsToCompletion() {
		return "batch/v1"
	}
	return "apps/v1"
}

func childOf(box *modelv1.ModelBox, apiVersion, kind string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{
		TypeMeta: metav1.TypeMeta{APIVersion: apiVersion, Kind: kind},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: box.Namespace, Name: box.Name,
			Labels: map[string]string{render.ManagedByLabel: render.ManagedBy},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "model.github.com/v1", Kind: "ModelBox", Name: box.Name, UID: box.UID, Controller: ptr.To(true),
			}},
		},
	}
}
