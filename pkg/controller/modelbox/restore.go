// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// restore takes back what somebody else changed, but for the fields that would only be changed again. Who that was only
// the live object tells.
func (c *Controller) restore(ctx context.Context, box *modelv1.ModelBox, s step) (child, error) {
	if err := c.pausedFields(s); err != nil {
		return s.live, err
	}
	found, err := c.planLive(ctx, box, s)
	if err != nil {
		return nil, err
	}
	if found.verb != restore {
		return c.carryOut(ctx, box, found)
	}
	s = found
	if !isOwnedBy(s.live, box) {
		// Somebody took the owner off, or the garbage collector did, because the box was deleted and its children are to stay.
		if _, err := c.confirm(ctx, box); err != nil {
			return nil, err
		}
	}

	byManager := opponents(s.live, s.difference.fields, s.difference.conflicting.Union(s.difference.renamed))
	if c.isRecordOutdated(box, s) {
		leaveOut(byManager, recordFields)
	}
	contested := c.fights.weigh(s.live.GetUID(), byManager)
	conflict := conflictWith(s, contested)
	if leaveOut(byManager, pathsOf(contested)); s.difference.fields.Difference(pathsOf(contested)).Empty() {
		return s.live, conflict
	}
	if s.rendered, err = c.compare.without(s.rendered, s.live, contested); err != nil {
		return nil, err
	}
	restored, err := c.apply(ctx, box, s, true)
	if restored == nil {
		return nil, err
	}
	// What the cluster does not take as the box says was not changed by anybody.
	s.live = restored
	if leaveOut(byManager, c.applied.rejected(box, s)); len(byManager) > 0 {
		c.restored(box, s, byManager)
	}
	if err != nil {
		return restored, err
	}
	return restored, conflict
}

// leaveOut takes fields out of those of each manager, and the managers that have none left.
func leaveOut(byManager map[string]*fieldpath.Set, fields *fieldpath.Set) {
	for manager := range byManager {
		byManager[manager] = byManager[manager].Difference(fields)
	}
	maps.DeleteFunc(byManager, func(_ string, fields *fieldpath.Set) bool { return fields.Empty() })
}

func pathsOf(contested []contestedField) *fieldpath.Set {
	paths := fieldpath.NewSet()
	for _, field := range contested {
		paths.Insert(field.path)
	}
	return paths
}

// restored tells of fields that were taken back from managers.
func (c *Controller) restored(box *modelv1.ModelBox, s step, byManager map[string]*fieldpath.Set) {
	var changes []string
	for _, manager := range slices.Sorted(maps.Keys(byManager)) {
		fields := byManager[manager]
		c.fights.restored(s.live.GetUID(), fields)
		c.metrics.restored(s, nameOfManager(manager))
		changes = append(changes, fmt.Sprintf("%s had changed %s", nameOfManager(manager), leaves(fields)))
	}
	c.childEventf(box, s.live, corev1.EventTypeWarning, "Restored"+s.kind.kind.Kind, "Restore",
		"Restored %s %s: %s", s.kind.kind.Kind, s.live.GetName(), strings.Join(changes, "; "))
}

// nameOfManager is what a field manager is called in a message. Nobody is known to have a field that was removed.
func nameOfManager(manager string) string {
	if manager == "" {
		return "somebody"
	}
	return manager
}

// pausedFields returns why nothing is to be restored now, nil where something is.
func (c *Controller) pausedFields(s step) error {
	paused := c.fights.paused(s.live.GetUID(), s.difference.fields)
	if len(paused) < s.difference.fields.Size() {
		return nil
	}
	return conflictWith(s, paused)
}

// conflictWith returns an error about fields that are left alone for a while, nil where there are none.
func conflictWith(s step, contested []contestedField) error {
	if len(contested) == 0 {
		return nil
	}
	return &conflictError{kind: s.kind.kind.Kind, name: s.live.GetName(), fields: contested}
}

// reclaim makes the fields of the render ours again, all of which are as the render has them.
func (c *Controller) reclaim(ctx context.Context, box *modelv1.ModelBox, s step) (child, error) {
	found, err := c.planLive(ctx, box, s)
	if err != nil {
		return nil, err
	}
	if found.verb != reclaim {
		return c.carryOut(ctx, box, found)
	}
	s = found
	own, err := c.compare.ownedFields(s.rendered)
	if err != nil {
		return nil, err
	}
	reclaimed, err := c.claim(ctx, box, s, own, noFields())
	if err != nil {
		return nil, err
	}
	return reclaimed, c.rememberAnswer(box, s, reclaimed)
}
