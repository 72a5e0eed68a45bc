// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package children

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
)

// restore takes back changes by other managers, except for fields that would only be changed again. Only the live object tells
// which managers made the changes.
func (e *Engine[O]) restore(ctx context.Context, owner O, s apply.Step) (Object, error) {
	if !e.IsOwnedBy(s.Live, owner) {
		// Another client removed the owner reference. Or the garbage collector did, because the owner was deleted and orphans its
		// children.
		if _, err := e.confirmOwner(ctx, owner); err != nil {
			return nil, err
		}
	}

	byManager := fields.ChangedBy(s.Live, s.Difference.Fields, s.Difference.Conflicting.Union(s.Difference.Renamed))
	if s.IsRecordOutdated() {
		leaveOut(byManager, apply.RecordFields)
	}
	contested := e.conflicts.contested(s.Live.GetUID(), byManager)
	conflict := e.conflictError(s, contested)
	if leaveOut(byManager, pathsOf(contested)); s.Difference.Fields.Difference(pathsOf(contested)).Empty() {
		return s.Live, conflict
	}
	partial, err := e.compare.Without(s.Rendered, s.Live, pathsOf(contested))
	if err != nil {
		return nil, err
	}
	s.Rendered = partial
	restored, err := e.apply(ctx, owner, s, true)
	if restored == nil {
		return nil, err
	}
	// No manager has changed the fields that the cluster does not take as rendered.
	s.Live = restored
	if leaveOut(byManager, e.planner.Rejected(owner, s)); len(byManager) > 0 {
		e.noteRestored(owner, s, byManager)
	}
	if err != nil {
		return restored, err
	}
	return restored, conflict
}

// leaveOut takes fields out of the fields of each manager, and drops the managers that have none left.
func leaveOut(byManager map[string]*fieldpath.Set, fields *fieldpath.Set) {
	for manager := range byManager {
		byManager[manager] = byManager[manager].Difference(fields)
	}
	maps.DeleteFunc(byManager, func(_ string, fields *fieldpath.Set) bool { return fields.Empty() })
}

func pathsOf(contested []ContestedField) *fieldpath.Set {
	paths := fieldpath.NewSet()
	for _, field := range contested {
		paths.Insert(field.Path)
	}
	return paths
}

// noteRestored remembers, counts and reports that the fields of managers were restored.
func (e *Engine[O]) noteRestored(owner O, s apply.Step, byManager map[string]*fieldpath.Set) {
	var changes []string
	for _, manager := range slices.Sorted(maps.Keys(byManager)) {
		restored := byManager[manager]
		e.conflicts.restored(s.Live.GetUID(), restored)
		e.Metrics.DriftRestored(s.Kind.Name(), nameOfManager(manager))
		changes = append(changes, fmt.Sprintf("%s had changed %s", nameOfManager(manager), fields.Names(restored)))
	}
	e.childEventf(owner, s.Kind, s.Live, corev1.EventTypeWarning, "Restored"+s.Kind.Name(), "Restore",
		"Restored %s %s: %s", s.Kind.Name(), s.Live.GetName(), strings.Join(changes, "; "))
}

// nameOfManager returns the name of a field manager for messages. The manager of a field that was removed is not known.
func nameOfManager(manager string) string {
	if manager == "" {
		return "another client"
	}
	return manager
}

// conflictOf returns why no field is to be restored now, nil if one is.
func (e *Engine[O]) conflictOf(s apply.Step) error {
	paused := e.conflicts.paused(s.Live.GetUID(), s.Difference.Fields)
	if len(paused) < s.Difference.Fields.Size() {
		return nil
	}
	return e.conflictError(s, paused)
}

// conflictError returns an error about the fields whose restoration is paused, nil if there are none.
func (e *Engine[O]) conflictError(s apply.Step, contested []ContestedField) error {
	if len(contested) == 0 {
		return nil
	}
	return &ConflictError{Noun: e.Noun, Kind: s.Kind.Name(), Name: s.Name(), Fields: contested}
}

// reclaim makes the fields of the render ours again, all of which are as the render has them.
func (e *Engine[O]) reclaim(ctx context.Context, owner O, s apply.Step) (Object, error) {
	own, err := e.compare.OwnedFields(s.Rendered)
	if err != nil {
		return nil, err
	}
	reclaimed, err := e.claim(ctx, owner, s, own, fieldpath.NewSet())
	if err != nil {
		return nil, err
	}
	return reclaimed, e.rememberAnswer(owner, s, reclaimed)
}
