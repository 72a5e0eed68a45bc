// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/storage"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// recordable is an object of the API that has a record.
type recordable interface {
	render.Recordable
	runtime.Object
}

// recordedKind is a kind in tests of all kinds.
type recordedKind struct {
	*kind
	// objects returns the objects of the kind in a store.
	objects func(*fixture) *objects
	// empty returns an object without metadata and defaults.
	empty func() recordable
	// setDefaults sets the defaults of an object. setSpec changes its spec.
	setDefaults, setSpec func(recordable)
	// spec returns the spec of a stored object. status returns the conditions and the status without conditions.
	spec   func(object) any
	status func(object) ([]metav1.Condition, any)
	// setApplied makes the condition Applied of a stored object True.
	setApplied func(object)
	// childOf returns the child with this record.
	childOf func(t *testing.T, recorded recordable, record string) runtime.Object
}

var recordedKinds = []recordedKind{
	{
		kind: boxKind, objects: func(f *fixture) *objects { return f.boxes },
		empty: func() recordable {
			return &modelv1.ModelBox{Spec: modelv1.ModelBoxSpec{Image: "nginx", Ports: []corev1.ServicePort{{Port: 80}}}}
		},
		setDefaults: func(box recordable) { modelv1.SetObjectDefaults_ModelBox(box.(*modelv1.ModelBox)) },
		setSpec:     func(box recordable) { box.(*modelv1.ModelBox).Spec.Image = "nginx:2" },
		spec:        func(box object) any { return box.(*model.ModelBox).Spec },
		setApplied:  func(box object) { box.(*model.ModelBox).Status.Conditions = applied() },
		status: func(box object) ([]metav1.Condition, any) {
			status := box.(*model.ModelBox).Status
			conditions := status.Conditions
			status.Conditions = nil
			return conditions, status
		},
		childOf: func(t *testing.T, box recordable, record string) runtime.Object {
			return deploymentOf(t, box.(*modelv1.ModelBox), annotatedWith(record))
		},
	},
	{
		kind: stackKind, objects: func(f *fixture) *objects { return f.stacks },
		empty: func() recordable {
			return &modelv1.ModelStack{Spec: modelv1.ModelStackSpec{Components: []modelv1.ModelStackComponent{
				{Name: "web", Box: &modelv1.ModelBoxSpec{Image: "nginx", Ports: []corev1.ServicePort{{Port: 80}}}},
			}}}
		},
		setDefaults: func(stack recordable) { modelv1.SetObjectDefaults_ModelStack(stack.(*modelv1.ModelStack)) },
		setSpec:     func(stack recordable) { stack.(*modelv1.ModelStack).Spec.Components[0].Box.Image = "nginx:2" },
		spec:        func(stack object) any { return stack.(*model.ModelStack).Spec },
		setApplied:  func(stack object) { stack.(*model.ModelStack).Status.Conditions = applied() },
		status: func(stack object) ([]metav1.Condition, any) {
			status := stack.(*model.ModelStack).Status
			conditions := status.Conditions
			status.Conditions = nil
			return conditions, status
		},
		childOf: func(t *testing.T, stack recordable, record string) runtime.Object {
			return revisionOf(t, stack.(*modelv1.ModelStack), func(revision *appsv1.ControllerRevision) {
				revision.Data.Raw = fmt.Appendf(nil, `{"record": %q}`, record)
			})
		},
	},
	{
		kind: networkKind, objects: func(f *fixture) *objects { return f.networks },
		empty:       func() recordable { return &modelv1.Network{Spec: modelv1.NetworkSpec{CIDR: "192.168.0.0/16"}} },
		setDefaults: func(network recordable) { modelv1.SetObjectDefaults_Network(network.(*modelv1.Network)) },
		setSpec:     func(network recordable) { network.(*modelv1.Network).Spec.MTU = 1402 },
		spec:        func(network object) any { return network.(*model.Network).Spec },
		setApplied:  func(network object) { network.(*model.Network).Status.Conditions = applied() },
		status: func(network object) ([]metav1.Condition, any) {
			status := network.(*model.Network).Status
			conditions := status.Conditions
			status.Conditions = nil
			return conditions, status
		},
		childOf: func(t *testing.T, network recordable, record string) runtime.Object {
			return definitionOf(t, network.(*modelv1.Network), annotatedWith(record))
		},
	},
}

func applied() []metav1.Condition {
	return []metav1.Condition{{Type: modelv1.ConditionApplied, Status: metav1.ConditionTrue, LastTransitionTime: metav1.Now()}}
}

func annotatedWith(record string) func(*metav1.PartialObjectMetadata) {
	return func(child *metav1.PartialObjectMetadata) { child.Annotations[modelv1.RecordAnnotation] = record }
}

// webName is the name of the objects from newRecord.
var webName = types.NamespacedName{Namespace: testNamespace, Name: "web"}

// newRecord returns an object without defaults.
func (k recordedKind) newRecord(changes ...func(recordable)) recordable {
	record := k.empty()
	record.SetNamespace(webName.Namespace)
	record.SetName(webName.Name)
	record.SetUID("1")
	record.SetGeneration(1)
	for _, change := range changes {
		change(record)
	}
	return record
}

// child returns the child with the record of an object. The record also has metadata that the renders leave out.
func (k recordedKind) child(t *testing.T, recorded recordable) runtime.Object {
	t.Helper()
	record, err := render.EncodeRecord(recorded, render.RecordLimits{Object: 1 << 20, Value: 1 << 20, Decoded: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return k.childOf(t, recorded, record)
}

// put stores the object of a record.
func (k recordedKind) put(f *fixture, record recordable) {
	f.t.Helper()
	stored, err := k.fromRecord(record)
	if err != nil {
		f.t.Fatal(err)
	}
	if err := k.objects(f).create(f.t.Context(), stored); err != nil {
		f.t.Fatal(err)
	}
}

// get returns the stored object of a name.
func (k recordedKind) get(f *fixture, name types.NamespacedName) object {
	f.t.Helper()
	objects, stored := k.objects(f), k.newObject()
	if err := objects.storage.Get(f.t.Context(), objects.key(name), storage.GetOptions{}, stored); err != nil {
		f.t.Fatal(err)
	}
	return stored
}

// expectSpec expects that the stored object has the spec of the record, with defaults.
func (k recordedKind) expectSpec(t *testing.T, stored object, record recordable) {
	t.Helper()
	record = record.DeepCopyObject().(recordable)
	k.setDefaults(record)
	want, err := k.fromRecord(record)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(k.spec(want), k.spec(stored)); diff != "" {
		t.Errorf("spec: -want +got:\n%s", diff)
	}
}

// behind makes the store of the fixture one that a later store has replaced.
func (f *fixture) behind() {
	f.t.Helper()
	own := f.serve(Current)
	f.setLease(Position{Identity: Identity{UID: "later", Ancestors: []types.UID{own.Identity.UID}}})
}

// Releases leave out resourceVersion and managed fields in records, and users can write a record with them. The storage refuses to
// create an object that has a resourceVersion.
func TestRecoveredObjectsHaveNoMetadataOfTheirFormerStore(t *testing.T) {
	for _, k := range recordedKinds {
		t.Run(k.noun, func(t *testing.T) {
			record := k.newRecord(func(record recordable) {
				record.SetResourceVersion("7")
				record.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "kubectl", Operation: metav1.ManagedFieldsOperationApply, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1("{}")}})
				record.SetFinalizers([]string{metav1.FinalizerDeleteDependents, "example.com/backup", metav1.FinalizerOrphanDependents})
			})
			f := newFixture(t, k.child(t, record))
			f.serve(Empty)
			got := k.get(f, webName)
			if got.GetResourceVersion() == "7" || got.GetManagedFields() != nil {
				t.Errorf("resourceVersion %s, managed fields %v", got.GetResourceVersion(), got.GetManagedFields())
			}
			if diff := cmp.Diff([]string{"example.com/backup"}, got.GetFinalizers()); diff != "" {
				t.Errorf("finalizers: -want +got:\n%s", diff)
			}
			k.expectSpec(t, got, record)
			conditions, rest := k.status(got)
			if len(conditions) != 1 || conditions[0].Type != modelv1.ConditionReady || conditions[0].Status != metav1.ConditionUnknown ||
				conditions[0].Reason != modelv1.ReasonPending || conditions[0].LastTransitionTime.IsZero() {
				t.Errorf("conditions: %v", conditions)
			}
			_, none := k.status(k.newObject())
			if diff := cmp.Diff(none, rest); diff != "" {
				t.Errorf("the rest of the status: -want +got:\n%s", diff)
			}
		})
	}
}

func TestARecordIsNotChangedWhenItsObjectIsRecovered(t *testing.T) {
	for _, k := range recordedKinds {
		t.Run(k.noun, func(t *testing.T) {
			record := k.newRecord(func(record recordable) {
				record.SetFinalizers([]string{metav1.FinalizerOrphanDependents, "example.com/backup"})
				record.SetAnnotations(map[string]string{"a": "recorded"})
			})
			before := record.DeepCopyObject()
			recorded, err := k.fromRecord(record)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, record.DeepCopyObject()); diff != "" {
				t.Errorf("the record: -before +after:\n%s", diff)
			}
			stored := k.newObject()
			stored.SetAnnotations(map[string]string{corev1.LastAppliedConfigAnnotation: "stored"})
			beforeUpdate := recorded.DeepCopyObject()
			k.withRecorded(stored, recorded)
			if diff := cmp.Diff(beforeUpdate, recorded.DeepCopyObject()); diff != "" {
				t.Errorf("the recorded object: -before +after:\n%s", diff)
			}
		})
	}
}

// The record of a generation can be later than the object in an older store, because metadata has no generation.
func TestStoredObjectsGetTheFieldsOfTheirRecord(t *testing.T) {
	lastApplied := corev1.LastAppliedConfigAnnotation
	annotations := func(annotations map[string]string) func(recordable) {
		return func(record recordable) { record.SetAnnotations(annotations) }
	}
	owner := func(name string) func(recordable) {
		return func(record recordable) {
			record.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: name, UID: types.UID(name)}})
		}
	}
	none := func(recordable) {}
	etcd := startEtcd(t)
	for i, row := range []struct {
		name             string
		stored, recorded func(recordable)
		// want returns a field of the stored object, with its value after the recovery.
		want      func(object) (got, want any)
		isChanged bool
	}{
		{"no field differs", annotations(map[string]string{"a": "1"}), annotations(map[string]string{"a": "1"}),
			func(got object) (any, any) { return got.GetAnnotations(), map[string]string{"a": "1"} }, false},
		{"labels differ", func(record recordable) { record.SetLabels(map[string]string{"team": "a"}) },
			func(record recordable) { record.SetLabels(map[string]string{"team": "b"}) },
			func(got object) (any, any) { return got.GetLabels(), map[string]string{"team": "b"} }, true},
		{"annotations differ", annotations(map[string]string{"a": "1"}), annotations(map[string]string{"b": "2"}),
			func(got object) (any, any) { return got.GetAnnotations(), map[string]string{"b": "2"} }, true},
		{"the annotation of kubectl is too large for the record", annotations(map[string]string{"a": "1", lastApplied: "stored"}), annotations(map[string]string{"a": "2"}),
			func(got object) (any, any) {
				return got.GetAnnotations(), map[string]string{"a": "2", lastApplied: "stored"}
			}, true},
		{"the annotation of kubectl differs", annotations(map[string]string{lastApplied: "stored"}), annotations(map[string]string{lastApplied: "recorded"}),
			func(got object) (any, any) { return got.GetAnnotations(), map[string]string{lastApplied: "recorded"} }, true},
		{"owners differ", owner("a"), owner("b"),
			func(got object) (any, any) { return got.GetOwnerReferences()[0].Name, "b" }, true},
		{"finalizers differ", func(record recordable) { record.SetFinalizers([]string{"example.com/a"}) },
			func(record recordable) { record.SetFinalizers([]string{"example.com/b"}) },
			func(got object) (any, any) { return got.GetFinalizers(), []string{"example.com/b"} }, true},
		{"the spec of an equal generation differs", none, nil,
			func(got object) (any, any) { return got.GetGeneration(), int64(1) }, true},
	} {
		for _, k := range recordedKinds {
			t.Run(row.name+" in a "+k.noun, func(t *testing.T) {
				recorded := row.recorded
				if recorded == nil {
					recorded = k.setSpec
				}
				record := k.newRecord(recorded)
				f := newFixtureIn(t, etcd, fmt.Sprintf("/%s-%d", k.plural, i), k.child(t, record))
				k.put(f, k.newRecord(row.stored))
				before := k.get(f, webName).GetResourceVersion()
				f.behind()
				var counted map[string]float64
				if row.isChanged {
					counted = map[string]float64{"recovered_" + k.plural + "_total updated": 1}
				}
				expectRecovered(t, f, counted)
				after := k.get(f, webName)
				k.expectSpec(t, after, record)
				got, want := row.want(after)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
				if isChanged := after.GetResourceVersion() != before; isChanged != row.isChanged {
					t.Errorf("the stored object changed: %t", isChanged)
				}
				if copies := f.copies(k.kind); len(copies) > 0 != row.isChanged {
					t.Errorf("%d copies of the former value are kept", len(copies))
				}
			})
		}
	}
}

// expectRecovered recovers a store that is Behind, and expects these metrics of objects.
func expectRecovered(t *testing.T, f *fixture, counted map[string]float64) {
	t.Helper()
	want := map[string]float64{"starts_total Behind": 1}
	for name, value := range counted {
		want[name] = value
	}
	expectCounted(t, func() { f.serve(Behind) }, want)
}
