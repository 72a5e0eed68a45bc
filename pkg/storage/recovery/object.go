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
	"k8s.io/component-base/metrics"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/decodedsize"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// object is an internal object of a kind that is recorded in the cluster: a box, a stack or a Network.
type object interface {
	runtime.Object
	metav1.Object
}

// kind describes a kind of objects that are recorded in the cluster.
type kind struct {
	// noun is the word for an object in messages, and plural its plural. name and resource are the names of the kind and the resource in
	// the API.
	noun, plural, name, resource string
	// replacedDirectory is the directory in the store for the former values of replaced objects.
	replacedDirectory string
	newObject         func() object
	newList           func() runtime.Object
	// conditions returns the conditions of an object. setRecorded copies what the record of another object has beside metadata, and
	// isSameRecorded compares it: the spec, and of a box the rollout.
	conditions     func(object) []metav1.Condition
	setRecorded    func(object, from object)
	isSameRecorded func(a, b object) bool

	// controlling returns the reference to the object of this kind that controls a child, nil if there is none. validateName
	// returns the reasons why a name is invalid.
	controlling  func(child metav1.Object) *metav1.OwnerReference
	validateName func(name string, prefix bool) []string
	// listRecords calls visit for every child of owners of this kind that should have a record of its owner. readRecord returns the
	// record on a child, and fromRecord the internal object of a record.
	listRecords func(ctx context.Context, cluster *cluster, owners *kind, visit func(child) error) error
	readRecord  func(metav1.Object) (metav1.Object, error)
	fromRecord  func(record metav1.Object) (object, error)
	// addLive adds to a record what only other children show. workload has the annotations of the child with the record. nil adds nothing.
	addLive func(ctx context.Context, cluster *cluster, workload, record metav1.Object) error
	// recovered counts the objects by action.
	recovered *metrics.CounterVec
}

// eachRecord calls visit for every child that should have a record of its owner.
func (k *kind) eachRecord(ctx context.Context, cluster *cluster, visit func(child) error) error {
	return k.listRecords(ctx, cluster, k, visit)
}

// ownerOf returns the reference to the object of this kind that controls a child. It returns nil if the API would refuse an object
// with this name or UID.
func (k *kind) ownerOf(child metav1.Object) *metav1.OwnerReference {
	owner := k.controlling(child)
	if owner == nil || owner.UID == "" || len(k.validateName(owner.Name, false)) > 0 {
		return nil
	}
	return owner
}

// recordAnnotation returns the record in the annotation of a child, or an error if the child has no such annotation.
func recordAnnotation(child metav1.Object) (string, error) {
	value, isRecorded := child.GetAnnotations()[modelv1.RecordAnnotation]
	if !isRecorded {
		return "", fmt.Errorf("it has no annotation %s", modelv1.RecordAnnotation)
	}
	return value, nil
}

// recordOnly returns a copy of the child that has only its record.
func recordOnly(child metav1.Object) metav1.Object {
	if revision, isRevision := child.(*appsv1.ControllerRevision); isRevision {
		return &appsv1.ControllerRevision{Data: revision.Data}
	}
	annotations := map[string]string{}
	for _, key := range []string{
		modelv1.RecordAnnotation, modelv1.StableRecordAnnotation, modelv1.RolledBackAnnotation, modelv1.RolloutStepAnnotation, modelv1.AwaitedJobAnnotation,
	} {
		if value, isThere := child.GetAnnotations()[key]; isThere {
			annotations[key] = value
		}
	}
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Annotations: annotations}}
}

// memoryOf returns the estimated size of a decoded object in bytes.
func memoryOf(record metav1.Object) (int64, error) {
	data, err := record.(render.Recordable).Marshal()
	if err != nil {
		return 0, fmt.Errorf("encoding the record of %s: %w", nameOf(record), err)
	}
	return decodedsize.OfProtobuf(data, reflect.TypeOf(record).Elem(), math.MaxInt64)
}

// prepareRecorded removes the metadata that must not be stored from a recorded object. The object need not be valid by the current
// rules: it was valid when it was created.
func prepareRecorded(recorded metav1.Object) {
	recorded.SetResourceVersion("")
	recorded.SetManagedFields(nil)
	// These finalizers are only for an object that is being deleted.
	recorded.SetFinalizers(slices.DeleteFunc(recorded.GetFinalizers(), func(finalizer string) bool {
		return finalizer == metav1.FinalizerDeleteDependents || finalizer == metav1.FinalizerOrphanDependents
	}))
}

// recoveredConditions returns the conditions of an object that the controller has not reconciled since its recovery.
func recoveredConditions(message string) []metav1.Condition {
	return []metav1.Condition{{
		Type:               modelv1.ConditionReady,
		Status:             metav1.ConditionUnknown,
		Reason:             modelv1.ReasonPending,
		Message:            message,
		LastTransitionTime: metav1.Now(),
	}}
}

// withRecorded copies the recorded fields to a stored object. Fields that the record leaves out because of their size keep their
// stored values.
func (k *kind) withRecorded(stored, recorded object) object {
	stored.SetGeneration(recorded.GetGeneration())
	k.setRecorded(stored, recorded)
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

// isSame returns whether the recorded fields of two versions of an object are equal.
func (k *kind) isSame(a, b object) bool {
	return a.GetGeneration() == b.GetGeneration() &&
		apiequality.Semantic.DeepEqual(a.GetLabels(), b.GetLabels()) &&
		apiequality.Semantic.DeepEqual(a.GetAnnotations(), b.GetAnnotations()) &&
		apiequality.Semantic.DeepEqual(a.GetOwnerReferences(), b.GetOwnerReferences()) &&
		apiequality.Semantic.DeepEqual(a.GetFinalizers(), b.GetFinalizers()) &&
		k.isSameRecorded(a, b)
}
