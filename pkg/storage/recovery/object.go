// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-base/metrics"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/decodedsize"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// object is one that the cluster has a record of, as it is stored: a box, a stack or a network.
type object interface {
	runtime.Object
	metav1.Object
}

// kind is a kind of objects that the cluster has records of.
type kind struct {
	// noun is what messages call an object, and plural several. resource is the plural that the API has.
	noun, plural, resource string
	// replacedDirectory is where in the store is kept what is replaced of them.
	replacedDirectory string
	newObject         func() object
	newList           func() runtime.Object
	// conditions are those of an object, and setSpec gives it the spec of another, both of which isSameSpec compares.
	conditions func(object) []metav1.Condition
	setSpec    func(object, from object)
	isSameSpec func(a, b object) bool

	// controlling returns the reference to the object that controls a child, nil for none, and validateName the reasons why
	// there can be no object of a name.
	controlling  func(child metav1.Object) *metav1.OwnerReference
	validateName func(name string, prefix bool) []string
	// listRecords calls visit for every child of this kind of owner that is to have a record of the object that controls it, and
	// readRecord returns that, which fromRecord makes what is stored.
	listRecords func(ctx context.Context, cluster *cluster, owners *kind, visit func(child) error) error
	readRecord  func(metav1.Object) (metav1.Object, error)
	fromRecord  func(record metav1.Object) (object, error)
	// recovered counts the objects by what was done about them.
	recovered *metrics.CounterVec
}

// eachRecord calls visit for every child that is to have a record of the object that controls it.
func (k *kind) eachRecord(ctx context.Context, cluster *cluster, visit func(child) error) error {
	return k.listRecords(ctx, cluster, k, visit)
}

// ownerOf returns the reference to the object of this kind that controls a child. It returns nil for an object that cannot
// exist: no request of the API could have created it.
func (k *kind) ownerOf(child metav1.Object) *metav1.OwnerReference {
	owner := k.controlling(child)
	if owner == nil || owner.UID == "" || len(k.validateName(owner.Name, false)) > 0 {
		return nil
	}
	return owner
}

// recordAnnotation returns the record that a child has in its annotation.
func recordAnnotation(child metav1.Object) (string, error) {
	value, isRecorded := child.GetAnnotations()[modelv1.RecordAnnotation]
	if !isRecorded {
		return "", fmt.Errorf("it has no annotation %s", modelv1.RecordAnnotation)
	}
	return value, nil
}

// recordOnly returns a child that has nothing but its record.
func recordOnly(child metav1.Object) metav1.Object {
	if revision, isRevision := child.(*appsv1.ControllerRevision); isRevision {
		return &appsv1.ControllerRevision{Data: revision.Data}
	}
	annotations := map[string]string{}
	for _, key := range []string{modelv1.RecordAnnotation, modelv1.StableRecordAnnotation, modelv1.RolledBackAnnotation} {
		if value, isThere := child.GetAnnotations()[key]; isThere {
			annotations[key] = value
		}
	}
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Annotations: annotations}}
}

// memoryOf returns about how many bytes of memory an object takes.
func memoryOf(record metav1.Object) (int64, error) {
	data, err := record.(render.Recordable).Marshal()
	if err != nil {
		return 0, fmt.Errorf("encoding what was recorded of %s: %w", nameOf(record), err)
	}
	return decodedsize.OfProtobuf(data, reflect.TypeOf(record).Elem(), math.MaxInt64)
}

// prepareRecorded makes a recorded object one that can be stored. It need not be valid by the rules of today: it is what its
// owner was once allowed to have.
func prepareRecorded(recorded metav1.Object) {
	recorded.SetResourceVersion("")
	recorded.SetManagedFields(nil)
	// These two only mean something while an object is being deleted.
	recorded.SetFinalizers(slices.DeleteFunc(recorded.GetFinalizers(), func(finalizer string) bool {
		return finalizer == metav1.FinalizerDeleteDependents || finalizer == metav1.FinalizerOrphanDependents
	}))
}

// recoveredConditions are those of an object that the controller has not seen since.
func recoveredConditions(message string) []metav1.Condition {
	return []metav1.Condition{{
		Type:               modelv1.ConditionReady,
		Status:             metav1.ConditionUnknown,
		Reason:             modelv1.ReasonPending,
		Message:            message,
		LastTransitionTime: metav1.Now(),
	}}
}

// withRecorded lets a stored object say what is recorded of it. What a record leaves out, because it would be too large,
// stays as it is stored.
func (k *kind) withRecorded(stored, recorded object) object {
	stored.SetGeneration(recorded.GetGeneration())
	k.setSpec(stored, recorded)
	if annotations := recorded.GetAnnotations(); annotations != nil {
		annotations = maps.Clone(annotations)
		lastApplied, isStored := stored.GetAnnotations()[corev1.LastAppliedConfigAnnotation]
		if _, isRecorded := annotations[corev1.LastAppliedConfigAnnotation]; isStored && !isRecorded {
			annotations[corev1.LastAppliedConfigAnnotation] = lastApplied
		}
		stored.SetAnnotations(annotations)
	}
	if labels := recorded.GetLabels(); labels != nil {
		stored.SetLabels(labels)
	}
	if owners := recorded.GetOwnerReferences(); owners != nil {
		stored.SetOwnerReferences(owners)
	}
	if finalizers := recorded.GetFinalizers(); finalizers != nil {
		stored.SetFinalizers(finalizers)
	}
	return stored
}

// isSame returns whether two versions of an object differ in nothing but what is not recorded.
func (k *kind) isSame(a, b object) bool {
	return a.GetGeneration() == b.GetGeneration() &&
		apiequality.Semantic.DeepEqual(a.GetLabels(), b.GetLabels()) &&
		apiequality.Semantic.DeepEqual(a.GetAnnotations(), b.GetAnnotations()) &&
		apiequality.Semantic.DeepEqual(a.GetOwnerReferences(), b.GetOwnerReferences()) &&
		apiequality.Semantic.DeepEqual(a.GetFinalizers(), b.GetFinalizers()) &&
		k.isSameSpec(a, b)
}

// ownOwners returns the UIDs of the objects of this group that own the object.
func ownOwners(of metav1.Object) []types.UID {
	var owners []types.UID
	for _, owner := range of.GetOwnerReferences() {
		if render.IsOfGroup(owner) {
			owners = append(owners, owner.UID)
		}
	}
	return owners
}

// dropOwners takes the owners of this group away that do not exist.
func dropOwners(of metav1.Object, exists func(types.UID) bool) {
	of.SetOwnerReferences(slices.DeleteFunc(of.GetOwnerReferences(), func(owner metav1.OwnerReference) bool {
		return render.IsOfGroup(owner) && !exists(owner.UID)
	}))
}
