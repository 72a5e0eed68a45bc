// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"errors"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
)

func TestGuardEndsAServerWhoseStoreWasReplaced(t *testing.T) {
	for _, row := range []struct {
		name  string
		do    func(*testing.T, *fixture, *Guard)
		fails bool
	}{
		{"the store serves on", func(t *testing.T, f *fixture, _ *Guard) { f.put(box("web", "1")) }, false},
		{"the store is another one", func(t *testing.T, f *fixture, g *Guard) {
			if _, err := f.store.setIdentity(t.Context(), g.last, Identity{UID: "another"}); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"the store is rolled back", func(_ *testing.T, _ *fixture, g *Guard) { g.last.Revision += 1000 }, true},
		{"a snapshot is restored, with a later revision", func(t *testing.T, f *fixture, g *Guard) {
			f.put(box("web", "1"))
			g.last.ClusterID++
		}, true},
		{"the store does not answer", func(_ *testing.T, f *fixture, _ *Guard) { _ = f.store.Close() }, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newFixture(t)
			g := newGuard(f.store, f.serve(New), func(err error) { f.failed = err })
			before := g.last
			row.do(t, f, g)
			lease := &coordinationv1.Lease{}
			g.Mark(t.Context(), lease)
			if got := errors.Is(f.failed, ErrStoreReplaced); got != row.fails {
				t.Errorf("the server stops: %t (%v)", got, f.failed)
			}
			if got := errors.Is(g.Err(), ErrStoreReplaced); got != row.fails {
				t.Errorf("Err: %v", g.Err())
			}
			if got := mustMark(t, lease); got.Store != before.Identity.UID || got.Revision < before.Revision {
				t.Errorf("the Lease is marked %v, want at least %v", got, before)
			}
		})
	}
}

func TestGuardMarksTheLastRevision(t *testing.T) {
	f := newFixture(t)
	g := newGuard(f.store, f.serve(New), func(err error) { f.failed = err })
	f.put(box("web", "1"))
	lease := &coordinationv1.Lease{}
	g.Mark(t.Context(), lease)
	marked := mustMark(t, lease).Revision
	if at, err := f.store.Position(t.Context()); err != nil || marked != at.Revision {
		t.Errorf("the Lease is marked with revision %d, and the store has %d (%v)", marked, at.Revision, err)
	}
	g.Mark(t.Context(), lease) // at the same revision
	if f.failed != nil {
		t.Errorf("the server stops: %v", f.failed)
	}
	if err := f.store.Close(); err != nil {
		t.Fatal(err)
	}
	later := &coordinationv1.Lease{}
	g.Mark(t.Context(), later)
	if got := mustMark(t, later).Revision; got != marked {
		t.Errorf("without an answer of the store, the Lease is marked with revision %d, and not with the last one, %d", got, marked)
	}
}

func TestVerifyRefusesTheLeaseOfAnotherStore(t *testing.T) {
	f := newFixture(t)
	own := f.serve(New)
	g := newGuard(f.store, own, func(err error) { f.failed = err })
	lease := f.lease()
	if err := g.Verify(lease); err != nil {
		t.Errorf("verifying the Lease of this server: %v", err)
	}
	if err := g.Verify(&coordinationv1.Lease{}); err != nil {
		t.Errorf("verifying a Lease without a mark: %v", err)
	}
	setMark(lease, Position{Identity: Identity{UID: "another"}, Revision: 1})
	if err := g.Verify(lease); !errors.Is(err, ErrStoreReplaced) || !errors.Is(f.failed, ErrStoreReplaced) {
		t.Errorf("got %v, and the server stops with %v", err, f.failed)
	}
}
