// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"fmt"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/timeout"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// Client writes the objects of a namespace. A generated client is one.
type Client[T any] interface {
	UpdateStatus(ctx context.Context, object T, options metav1.UpdateOptions) (T, error)
	Patch(ctx context.Context, name string, patchType types.PatchType, data []byte, options metav1.PatchOptions, subresources ...string) (T, error)
}

// Status is what a controller supplies about the status S of its objects T.
type Status[T, S any] struct {
	// List reads all objects from the cache, to count them by whether they are ready.
	List func(labels.Selector) ([]T, error)
	// Of returns the status of the object.
	Of func(object T) *S
	// Parts returns the parts that every status has.
	Parts func(status *S) (observedGeneration *int64, conditions *[]metav1.Condition)
	// IsMereProgress returns whether two statuses differ only in details that no client waits for. The later status is written with
	// some delay then.
	IsMereProgress func(before, after *S) bool
	// Written is called with the object and the status that it has from now on. It records events about what has changed.
	Written func(object T, status *S)
	// NotReadyReason is the reason of the condition Ready after a panic.
	NotReadyReason string
}

// unwrittenStatus is a status that is put off, so that its contents are not lost. It is about the object with that UID.
type unwrittenStatus[S any] struct {
	uid    types.UID
	status *S
}

// LastStatus returns the newest status of the object: the one that it has, unless another one is put off. It must not be changed.
func (f *For[T, S]) LastStatus(object T) *S {
	if unwritten, isKnown := f.unwritten.Get(apply.KeyOf(object)); isKnown && unwritten.uid == object.GetUID() {
		return unwritten.status
	}
	return f.Status.Of(object)
}

// UpdateStatus writes the status of the object if it differs from the present one. It returns after how long to requeue the object
// for a write that it put off, 0 for not at all. The status must not be changed afterwards.
func (f *For[T, S]) UpdateStatus(ctx context.Context, object T, status S) (time.Duration, error) {
	key, before := apply.KeyOf(object), f.Status.Of(object)
	if apiequality.Semantic.DeepEqual(before, &status) {
		f.unwritten.Forget(key)
		return 0, nil
	}
	if f.Status.IsMereProgress(before, &status) {
		if delay := f.Pace.ProgressDelay(key); delay > 0 {
			f.unwritten.Set(key, unwrittenStatus[S]{object.GetUID(), &status})
			return delay, nil
		}
	}
	changed := object.DeepCopy()
	*f.Status.Of(changed) = status
	changed.SetManagedFields(nil) // The cache has no more than their fingerprint.
	updated, err := timeout.Request(ctx, func(ctx context.Context) (T, error) {
		return f.Client(object.GetNamespace()).UpdateStatus(ctx, changed, metav1.UpdateOptions{FieldManager: render.FieldManager})
	})
	if apierrors.IsNotFound(err) {
		return 0, fmt.Errorf("the %s %w", f.Noun, children.ErrOwnerChanged)
	}
	if err != nil {
		return 0, fmt.Errorf("writing the status: %w", err)
	}
	f.Consistency.WroteAt(key, object.GetUID(), f.Resource, updated.GetResourceVersion())
	f.Pace.Wrote(key)
	f.unwritten.Forget(key)
	f.Status.Written(object, &status)
	return 0, nil
}

// ListConditions visits the conditions of each object in the cache.
func (f *For[T, S]) ListConditions(visit func(conditions []metav1.Condition)) error {
	objects, err := f.Status.List(labels.Everything())
	for _, object := range objects {
		_, conditions := f.Status.Parts(f.Status.Of(object))
		visit(*conditions)
	}
	return err
}

// panickedStatus is the last status of the object, which may no longer be true, except for the conditions that say so.
func (f *For[T, S]) panickedStatus(object T, failure *PanicError) S {
	status := *f.Status.Of(object.DeepCopy())
	observedGeneration, conditions := f.Status.Parts(&status)
	*observedGeneration = object.GetGeneration()
	SetCondition(conditions, object.GetGeneration(), modelv1.ConditionApplied, Verdict{Reason: modelv1.ReasonError, Message: failure.Error()})
	SetCondition(conditions, object.GetGeneration(), modelv1.ConditionReady, Verdict{Reason: f.Status.NotReadyReason, Message: failure.Error()})
	return status
}
