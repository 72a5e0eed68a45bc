// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// The Deployment carries the record of its box, which also changes when the box asks for nothing else: with its labels,
// or when it is paused. What is here writes it then, in silence, and tells that from somebody else's change.

// recordManager owns the record of a box that is paused while its Deployment is not as it says.
const recordManager = render.ManagedBy + "-record"

var (
	recordPath   = fieldpath.MakePathOrDie("metadata", "annotations", modelv1.RecordAnnotation)
	recordFields = fieldpath.NewSet(recordPath)
)

// record writes a record that is not of the box as it is.
func (c *Controller) record(ctx context.Context, box *modelv1.ModelBox, s step) (child, error) {
	if !ownsRecord(s.live) {
		found, err := c.planLive(ctx, box, s)
		if err != nil {
			return nil, err
		}
		if found.verb != record {
			return c.carryOut(ctx, box, found)
		}
		if s = found; !c.isRecordOutdated(box, s) {
			s.verb = restore
			return c.restore(ctx, box, s)
		}
	}
	recorded, err := c.apply(ctx, box, s, true)
	c.rollouts.annotated(keyOf(box), s.live, recorded)
	return recorded, err
}

// isRecordOutdated returns whether the box changed since its record was written, rather than somebody the record. A
// record that is missing was written by no earlier release, unless this process has seen it there. The live child of the
// step has to have its managed fields.
func (c *Controller) isRecordOutdated(box *modelv1.ModelBox, s step) bool {
	if _, isThere := s.live.GetAnnotations()[modelv1.RecordAnnotation]; isThere {
		return ownsRecord(s.live)
	}
	_, wasThere := c.applied.answer(box, s)
	return !wasThere
}

// recordPaused writes the record, and nothing else, of a box that is paused before the step. A record that goes again
// and again is left alone for a while.
func (c *Controller) recordPaused(ctx context.Context, box *modelv1.ModelBox, s step) (child, error) {
	if s.difference == nil || !s.difference.fields.Has(recordPath) {
		return s.live, nil
	}
	isFought := !ownsRecord(s.live)
	if isFought && len(c.fights.weigh(s.live.GetUID(), map[string]*fieldpath.Set{"": recordFields})) > 0 {
		return s.live, nil
	}
	value := s.rendered.GetAnnotations()[modelv1.RecordAnnotation]
	s.verb, s.rendered = record, &unstructured.Unstructured{}
	s.rendered.SetGroupVersionKind(s.kind.kind)
	s.rendered.SetNamespace(box.Namespace)
	s.rendered.SetName(s.live.GetName())
	s.rendered.SetAnnotations(map[string]string{modelv1.RecordAnnotation: value})
	recorded, err := c.applyAs(ctx, box, s, recordManager, true)
	if err != nil {
		return s.live, err
	}
	if isFought {
		c.fights.restored(s.live.GetUID(), recordFields)
	}
	c.rollouts.annotated(keyOf(box), s.live, recorded)
	return recorded, nil
}

// tellUnrecorded records, once, that a box has no record, which only one can be too large for that was stored by an
// earlier release.
func (c *Controller) tellUnrecorded(box *modelv1.ModelBox, deployment *unstructured.Unstructured) {
	if _, isRecorded, _ := unstructured.NestedString(deployment.Object, recordNames...); isRecorded {
		c.unrecorded.Delete(keyOf(box))
		return
	}
	if _, isTold := c.unrecorded.LoadOrStore(keyOf(box), true); !isTold {
		c.eventf(box, corev1.EventTypeWarning, "NotRecorded", "Reconcile",
			"The box is too large to be recorded on its Deployment, and would not be recovered if its store were lost: its spec has %d bytes", box.Spec.Size())
	}
}

// ownsRecord returns whether the record of the child is as we wrote it last.
func ownsRecord(object metav1.Object) bool {
	return slices.ContainsFunc(object.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		if isRecordDigest(&entry) {
			return true
		}
		isApplied := entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == "" && entry.FieldsV1 != nil
		return isApplied && (entry.Manager == render.ManagedBy || entry.Manager == recordManager) &&
			strings.Contains(entry.FieldsV1.GetRawString(), `"f:`+modelv1.RecordAnnotation+`"`)
	})
}

// trimRecord takes the record out of a Deployment and returns an entry of managed fields that identifies it, none where
// there is none that is as we wrote it last. No API server takes such an entry, so nobody else can make one.
func trimRecord(object child) []metav1.ManagedFieldsEntry {
	deployment, ok := object.(*appsv1.Deployment)
	if !ok {
		return nil
	}
	value, isThere := deployment.Annotations[modelv1.RecordAnnotation]
	if !isThere {
		return slices.DeleteFunc(slices.Clone(deployment.ManagedFields), func(entry metav1.ManagedFieldsEntry) bool { return !isRecordDigest(&entry) })
	}
	isOwned := ownsRecord(deployment)
	delete(deployment.Annotations, modelv1.RecordAnnotation)
	if !isOwned {
		return nil
	}
	digest := &metav1.FieldsV1{}
	digest.SetRawString(strconv.Quote(fingerprintOf(value)))
	return []metav1.ManagedFieldsEntry{{Manager: recordManager, Operation: metav1.ManagedFieldsOperationApply, FieldsV1: digest}}
}

// isRecordDigest returns whether trimRecord made the entry.
func isRecordDigest(entry *metav1.ManagedFieldsEntry) bool {
	return entry.Manager == recordManager && entry.FieldsV1 != nil && strings.HasPrefix(entry.FieldsV1.GetRawString(), `"`)
}

// restoreRecord puts the record into the fields of a live child that trimRecord took it out of, if it is the rendered one.
func restoreRecord(fields map[string]any, live metav1.Object, rendered *unstructured.Unstructured) error {
	entries := live.GetManagedFields()
	i := slices.IndexFunc(entries, func(entry metav1.ManagedFieldsEntry) bool { return isRecordDigest(&entry) })
	if i < 0 {
		return nil
	}
	value, _, err := unstructured.NestedString(rendered.Object, recordNames...)
	if err != nil || strconv.Quote(fingerprintOf(value)) != entries[i].FieldsV1.GetRawString() {
		return err
	}
	return unstructured.SetNestedField(fields, value, recordNames...)
}

var recordNames = []string{"metadata", "annotations", modelv1.RecordAnnotation}
