// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/embeddedetcd"
)

const (
	// filePrefix, fileTime and fileSuffix make the names of scheduled snapshots. Sorted by name they are sorted by time.
	filePrefix = "modelbox-"
	fileTime   = "20060102T150405Z"
	fileSuffix = ".db"

	// retryPeriod is how long after a snapshot that failed the next one is tried, at most.
	retryPeriod = 5 * time.Minute
)

// Scheduler saves a snapshot each period, and keeps the last ones.
type Scheduler struct {
	// Client is of the etcd that is saved.
	Client *clientv3.Client
	// Dir is where snapshots are kept. It is made this user's only.
	Dir string
	// Period is the time between two snapshots, across restarts.
	Period time.Duration
	// Keep is how many snapshots stay. One more is there while it is written.
	Keep int
	// Clock is the time.
	Clock clock.WithTicker
	// FreeBytes returns the free space of the disk of a directory.
	FreeBytes func(dir string) (int64, error)
}

// Run saves snapshots until ctx is done. One that fails is logged, counted, and tried again.
func (s *Scheduler) Run(ctx context.Context) {
	registerMetrics()
	logger := klog.FromContext(ctx).WithName("snapshots")
	wait := s.untilDue()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.Clock.After(wait):
		}
		file, status, err := s.take(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			attempts.WithLabelValues("error").Inc()
			logger.Error(err, "Saving a scheduled snapshot failed", "dir", s.Dir)
			wait = min(s.Period, retryPeriod)
		default:
			attempts.WithLabelValues("success").Inc()
			lastSuccess.Set(float64(s.Clock.Now().Unix()))
			logger.Info("Saved a scheduled snapshot", "file", file, "revision", status.Revision, "keys", status.Keys, "bytes", status.Bytes)
			wait = s.Period
		}
	}
}

// untilDue returns when the next snapshot is due, by the time in the name of the last one.
func (s *Scheduler) untilDue() time.Duration {
	files, err := s.list()
	if err != nil || len(files) == 0 {
		return 0
	}
	last, err := time.Parse(filePrefix+fileTime+fileSuffix, files[len(files)-1])
	if err != nil {
		return 0
	}
	lastSuccess.Set(float64(last.Unix()))
	// A last snapshot that is of the future, because the clock was put back, is no reason to wait for long.
	return min(max(s.Period-s.Clock.Since(last), 0), s.Period)
}

// take saves one snapshot and removes those that are too many.
func (s *Scheduler) take(ctx context.Context) (file string, status *Status, err error) {
	if err := embeddedetcd.MakePrivateDir(s.Dir); err != nil {
		return "", nil, err
	}
	if err := s.removeLeftovers(); err != nil {
		return "", nil, err
	}
	if err := s.makeRoom(ctx); err != nil {
		return "", nil, err
	}
	file = filepath.Join(s.Dir, filePrefix+s.Clock.Now().UTC().Format(fileTime)+fileSuffix)
	if status, err = Save(ctx, s.Client, file); err != nil {
		return "", nil, err
	}
	return file, status, s.removeOldest(s.Keep)
}

// list returns the names of the scheduled snapshots that are whole, the oldest first.
func (s *Scheduler) list() ([]string, error) {
	return s.listWith(fileSuffix)
}

func (s *Scheduler) listWith(suffix string) ([]string, error) {
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		return nil, fmt.Errorf("listing the snapshots: %w", err)
	}
	var names []string
	for _, entry := range entries {
		if name := entry.Name(); strings.HasPrefix(name, filePrefix) && strings.HasSuffix(name, suffix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// removeLeftovers removes what a server that was killed had not written to its end.
func (s *Scheduler) removeLeftovers() error {
	names, err := s.listWith(fileSuffix + partSuffix)
	if err != nil {
		return err
	}
	return s.remove(names)
}

// removeOldest leaves the newest snapshots, that many.
func (s *Scheduler) removeOldest(keep int) error {
	names, err := s.list()
	if err != nil {
		return err
	}
	return s.remove(names[:max(len(names)-keep, 0)])
}

func (s *Scheduler) remove(names []string) error {
	var errs []error
	for _, name := range names {
		if err := os.Remove(filepath.Join(s.Dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, fmt.Errorf("removing a snapshot: %w", err))
		}
	}
	return errors.Join(errs...)
}

// makeRoom makes sure that the snapshot leaves twice the space free that boxes need to grow: snapshots on the same disk
// must not keep them from that. The oldest ones are removed for it, but never the last one.
func (s *Scheduler) makeRoom(ctx context.Context) error {
	etcd, err := s.Client.Status(ctx, s.Client.Endpoints()[0])
	if err != nil {
		return fmt.Errorf("asking etcd for its size: %w", err)
	}
	wanted := etcd.DbSize + 2*embeddedetcd.MinFreeBytes
	for {
		free, err := s.FreeBytes(s.Dir)
		if err != nil || free >= wanted {
			return err
		}
		names, err := s.list()
		if err != nil {
			return err
		}
		if len(names) <= 1 {
			return fmt.Errorf("%s are free on the disk of %s, but %s are required: free disk space, or specify another --snapshot-dir",
				embeddedetcd.Quantity(free), s.Dir, embeddedetcd.Quantity(wanted))
		}
		if err := s.remove(names[:1]); err != nil {
			return err
		}
	}
}
