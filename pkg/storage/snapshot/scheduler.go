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
	// The names of scheduled snapshots consist of filePrefix, fileTime and fileSuffix. Their order by name is their order by time.
	filePrefix = "modelbox-"
	fileTime   = "20060102T150405Z"
	fileSuffix = ".db"

	// retryPeriod is the maximum time between a failed snapshot and the next attempt.
	retryPeriod = 5 * time.Minute
)

// Scheduler saves a snapshot once a period, and keeps the latest ones.
type Scheduler struct {
	// Client is a client of the etcd to save.
	Client *clientv3.Client
	// Dir is the directory of the snapshots. The scheduler makes it private.
	Dir string
	// Period is the time between two snapshots, across restarts.
	Period time.Duration
	// Keep is the number of snapshots to keep, besides the one that is being written.
	Keep int
	// Clock has the current time.
	Clock clock.WithTicker
	// FreeBytes returns the free space on the disk of a directory in bytes.
	FreeBytes func(dir string) (int64, error)
}

// Run saves snapshots until ctx is done. It logs and counts failures, and retries.
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

// untilDue returns the time until the next snapshot is due, based on the name of the last snapshot.
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
	// The last snapshot may have a future time because the clock was set back. Do not wait longer than a period.
	return min(max(s.Period-s.Clock.Since(last), 0), s.Period)
}

// take saves one snapshot and removes the oldest ones.
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

// list returns the names of the complete scheduled snapshots, the oldest first.
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

// removeLeftovers removes incomplete files of a server that was killed.
func (s *Scheduler) removeLeftovers() error {
	names, err := s.listWith(fileSuffix + partSuffix)
	if err != nil {
		return err
	}
	return s.remove(names)
}

// removeOldest removes all but the newest snapshots. keep is the number of snapshots to keep.
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

// makeRoom removes the oldest snapshots, but never the last one, until the next snapshot leaves twice the free space that boxes
// require. Snapshots on the disk of the store must not make it refuse boxes. It returns an error if there is not enough space.
func (s *Scheduler) makeRoom(ctx context.Context) error {
	etcd, err := s.Client.Status(ctx, s.Client.Endpoints()[0])
	if err != nil {
		return fmt.Errorf("getting the size of etcd: %w", err)
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
