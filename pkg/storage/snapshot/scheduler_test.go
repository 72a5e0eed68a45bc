// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// newScheduler returns a scheduler that keeps two snapshots on a disk with enough space.
func newScheduler(t *testing.T) (*Scheduler, *clocktesting.FakeClock) {
	t.Helper()
	client, _ := start(t, newDir(t))
	put(t, client, "box", "web")
	fake := clocktesting.NewFakeClock(noon)
	return &Scheduler{
		Client: client, Dir: filepath.Join(t.TempDir(), "snapshots"), Period: time.Hour, Keep: 2, Clock: fake,
		FreeBytes: func(string) (int64, error) { return 1 << 40, nil },
	}, fake
}

func take(t *testing.T, s *Scheduler) {
	t.Helper()
	if _, _, err := s.take(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestTheLastSnapshotsAreKept(t *testing.T) {
	t.Parallel()
	s, clock := newScheduler(t)
	for range 4 {
		take(t, s)
		clock.Step(time.Hour)
	}
	expectNames(t, s.Dir, "modelbox-20260102T140000Z.db", "modelbox-20260102T150000Z.db")
	if _, err := Read(filepath.Join(s.Dir, "modelbox-20260102T150000Z.db")); err != nil {
		t.Error(err)
	}
	info, err := os.Stat(s.Dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder: %v, %v", info, err)
	}
}

func TestFilesOfOthersAreKept(t *testing.T) {
	t.Parallel()
	s, clock := newScheduler(t)
	take(t, s)
	for _, name := range []string{"before-the-upgrade.db", "notes.part", "modelbox-20260102T110000Z.db.part"} {
		if err := os.WriteFile(filepath.Join(s.Dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		clock.Step(time.Hour)
		take(t, s)
	}
	// The incomplete file of a killed server was removed.
	expectNames(t, s.Dir, "before-the-upgrade.db", "modelbox-20260102T130000Z.db", "modelbox-20260102T140000Z.db", "notes.part")
}

func TestSnapshotsDoNotFillTheDisk(t *testing.T) {
	t.Parallel()
	s, clock := newScheduler(t)
	for range 2 {
		take(t, s)
		clock.Step(time.Hour)
	}
	s.FreeBytes = func(string) (int64, error) { return 1 << 20, nil }
	_, _, err := s.take(t.Context())
	if err == nil || !strings.Contains(err.Error(), "1.0Mi are free on the disk of "+s.Dir) {
		t.Errorf("got %v", err)
	}
	// All snapshots but the last one were removed.
	expectNames(t, s.Dir, "modelbox-20260102T130000Z.db")
}

func TestWhenASnapshotIsDue(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		last string
		want time.Duration
	}{
		{"there is none", "", 0},
		{"the last one is fresh", "modelbox-20260102T120000Z.db", time.Hour},
		{"the last one is from before the restart", "modelbox-20260102T113000Z.db", 30 * time.Minute},
		{"the last one is old", "modelbox-20251231T235959Z.db", 0},
		{"the clock was set back", "modelbox-20270102T113000Z.db", time.Hour},
		{"the name has no time", "modelbox-first.db", 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := &Scheduler{Dir: t.TempDir(), Period: time.Hour, Clock: clocktesting.NewFakeClock(noon)}
			if row.last != "" {
				if err := os.WriteFile(filepath.Join(s.Dir, row.last), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if got := s.untilDue(); got != row.want {
				t.Errorf("in %s, want %s", got, row.want)
			}
		})
	}
}
