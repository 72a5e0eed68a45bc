// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"
)

// SnapshotOptions says when the server saves its embedded etcd. The administrators of an external etcd save it themselves.
type SnapshotOptions struct {
	// Period is the time between two snapshots. 0: none are saved.
	Period time.Duration
	// Dir is where they are kept. Empty: the folder "snapshots" of the data directory.
	Dir string
	// Keep is how many of them stay.
	Keep int
}

// minSnapshotPeriod keeps the names of snapshots apart, which have the second in them.
const minSnapshotPeriod = time.Second

// NewSnapshotOptions returns the defaults: what was deleted by mistake can be had back for a day, for the disk space of
// four databases.
func NewSnapshotOptions() *SnapshotOptions {
	return &SnapshotOptions{Period: 6 * time.Hour, Keep: 4}
}

// AddFlags adds the flags.
func (o *SnapshotOptions) AddFlags(fs *pflag.FlagSet) {
	fs.DurationVar(&o.Period, "snapshot-period", o.Period, "Interval between snapshots of the embedded etcd, across restarts. If 0, take no snapshots.")
	fs.StringVar(&o.Dir, "snapshot-dir", o.Dir, "Directory of the periodic snapshots. Use a separate disk to keep them if the disk of --data-dir is lost. (default the directory snapshots in --data-dir)")
	fs.IntVar(&o.Keep, "snapshot-keep", o.Keep, "Number of periodic snapshots to keep. The server keeps fewer, but at least one, if the disk would otherwise have no room for boxes.")
}

// Complete fills in what follows from the data directory.
func (o *SnapshotOptions) Complete(dataDir string) {
	if o.Dir == "" && dataDir != "" {
		o.Dir = filepath.Join(dataDir, "snapshots")
	}
}

// Validate returns every error in the options.
func (o *SnapshotOptions) Validate() []error {
	var errs []error
	if o.Period != 0 && o.Period < minSnapshotPeriod {
		errs = append(errs, fmt.Errorf("--snapshot-period is %s and must be 0, or at least %s", o.Period, minSnapshotPeriod))
	}
	if o.Keep < 1 {
		errs = append(errs, fmt.Errorf("--snapshot-keep is %d and must be at least 1", o.Keep))
	}
	return errs
}
