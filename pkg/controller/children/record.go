// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package children

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
)

// record writes a record that is not of the owner as it is.
func (e *Engine[O]) record(ctx context.Context, owner O, s apply.Step) (Object, error) {
	recorded, err := e.apply(ctx, owner, s, true)
	if recorded != nil {
		e.noteWritten(owner, s, recorded)
	}
	return recorded, err
}

// recordPaused writes the record, and nothing else, of an owner that is paused before the step. If other clients remove the record
// again and again, recordPaused leaves it alone for a while.
func (e *Engine[O]) recordPaused(ctx context.Context, owner O, s apply.Step) (Object, error) {
	if s.Difference == nil || !s.Difference.Fields.Has(apply.RecordPath) {
		return s.Live, nil
	}
	isForeign := !apply.OwnsRecord(s.Live)
	if isForeign && len(e.conflicts.contested(s.Live.GetUID(), map[string]*fieldpath.Set{"": apply.RecordFields})) > 0 {
		return s.Live, nil
	}
	value := s.Rendered.GetAnnotations()[modelv1.RecordAnnotation]
	s.Operation, s.Rendered = apply.Record, &unstructured.Unstructured{}
	s.Rendered.SetGroupVersionKind(s.Kind.GroupVersionKind)
	s.Rendered.SetNamespace(owner.GetNamespace())
	s.Rendered.SetName(s.Live.GetName())
	s.Rendered.SetAnnotations(map[string]string{modelv1.RecordAnnotation: value})
	recorded, err := e.applyAs(ctx, owner, s, apply.RecordManager, true)
	if err != nil {
		return s.Live, err
	}
	if isForeign {
		e.conflicts.restored(s.Live.GetUID(), apply.RecordFields)
	}
	e.noteWritten(owner, s, recorded)
	return recorded, nil
}
