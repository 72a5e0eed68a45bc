// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// A child may have the record of its owner in an annotation. The record also changes when the owner asks for nothing else: when its
// labels change, or when it is paused. These functions write the record without an event, and tell an outdated record from one that
// another client has changed.

// RecordManager owns the record of an owner that is paused while the child is not as rendered.
const RecordManager = render.FieldManager + "-record"

var (
	// RecordPath is the path of the annotation of a child that has the record of its owner.
	RecordPath = fieldpath.MakePathOrDie("metadata", "annotations", modelv1.RecordAnnotation)
	// RecordFields has the field of RecordPath.
	RecordFields = fieldpath.NewSet(RecordPath)
)

// IsRecordOutdated returns whether the owner has changed since its record was written. It returns false if another client has
// changed the record. A missing record is outdated, because an earlier release wrote none, unless this process has seen it there.
// The live child of the step has to have its managed fields.
func (s *Step) IsRecordOutdated() bool {
	if _, isThere := s.Live.GetAnnotations()[modelv1.RecordAnnotation]; isThere {
		return OwnsRecord(s.Live)
	}
	return s.answer == nil
}

// isRecorded returns whether the rendered child carries the record of its owner, which its hash says nothing about.
func isRecorded(rendered *unstructured.Unstructured) bool {
	_, isRecorded := rendered.GetAnnotations()[modelv1.RecordAnnotation]
	return isRecorded
}

// OwnsRecord returns whether the record of the child is as we wrote it last.
func OwnsRecord(object metav1.Object) bool {
	return slices.ContainsFunc(object.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		if isRecordDigest(&entry) {
			return true
		}
		isApplied := entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == "" && entry.FieldsV1 != nil
		return isApplied && (entry.Manager == render.FieldManager || entry.Manager == RecordManager) &&
			strings.Contains(entry.FieldsV1.GetRawString(), `"f:`+modelv1.RecordAnnotation+`"`)
	})
}

// Trim takes out of an object for the cache what a Planner does not read there: its managed fields, but for those in kept,
// and the record of its owner, which is as large as that. It leaves what identifies both.
func Trim(object Object, kept ...metav1.ManagedFieldsEntry) {
	record := trimRecord(object)
	fields.KeepFingerprint(object)
	object.SetManagedFields(slices.Concat(object.GetManagedFields(), record, kept))
}

// trimRecord takes the record out of an object. It returns an entry of managed fields that identifies the record, or none if the
// record is not as we wrote it last. No API server accepts such an entry, so no client can make one.
func trimRecord(object Object) []metav1.ManagedFieldsEntry {
	annotations := object.GetAnnotations()
	value, isThere := annotations[modelv1.RecordAnnotation]
	if !isThere {
		return slices.DeleteFunc(slices.Clone(object.GetManagedFields()), func(entry metav1.ManagedFieldsEntry) bool { return !isRecordDigest(&entry) })
	}
	isOwned := OwnsRecord(object)
	delete(annotations, modelv1.RecordAnnotation)
	object.SetAnnotations(annotations)
	if !isOwned {
		return nil
	}
	digest := &metav1.FieldsV1{}
	digest.SetRawString(strconv.Quote(fields.Digest(value)))
	return []metav1.ManagedFieldsEntry{{Manager: RecordManager, Operation: metav1.ManagedFieldsOperationApply, FieldsV1: digest}}
}

// isRecordDigest returns whether trimRecord made the entry.
func isRecordDigest(entry *metav1.ManagedFieldsEntry) bool {
	return entry.Manager == RecordManager && entry.FieldsV1 != nil && strings.HasPrefix(entry.FieldsV1.GetRawString(), `"`)
}

// Compare returns how the live child differs from the rendered one, whether or not it has been trimmed.
func (p *Planner[O]) Compare(rendered *unstructured.Unstructured, live Object) (*fields.Difference, error) {
	return p.Comparer.Compare(rendered, withRecord(live, rendered))
}

// withRecord returns the live child with the record that trimRecord took out of it, if that is the rendered one. It does not
// change the child, but shares its memory.
func withRecord(live Object, rendered *unstructured.Unstructured) Object {
	entries := live.GetManagedFields()
	i := slices.IndexFunc(entries, func(entry metav1.ManagedFieldsEntry) bool { return isRecordDigest(&entry) })
	if i < 0 {
		return live
	}
	value := rendered.GetAnnotations()[modelv1.RecordAnnotation]
	if strconv.Quote(fields.Digest(value)) != entries[i].FieldsV1.GetRawString() {
		return live
	}
	object := withOwnMetadata(live)
	annotations := map[string]string{modelv1.RecordAnnotation: value}
	for name, value := range live.GetAnnotations() {
		annotations[name] = value
	}
	object.SetAnnotations(annotations)
	return object
}

// withOwnMetadata returns a copy of the object whose metadata can be set, which shares the rest.
func withOwnMetadata(object Object) Object {
	if object, isUnstructured := object.(*unstructured.Unstructured); isUnstructured {
		content := maps.Clone(object.Object)
		if metadata, ok := content["metadata"].(map[string]any); ok {
			content["metadata"] = maps.Clone(metadata)
		}
		return &unstructured.Unstructured{Object: content}
	}
	copied := reflect.New(reflect.TypeOf(object).Elem())
	copied.Elem().Set(reflect.ValueOf(object).Elem())
	return copied.Interface().(Object)
}
