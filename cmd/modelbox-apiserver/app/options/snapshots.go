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
	fs.DurationVar(&o.Period, "snapshot-period", o.Period, "Time between two snapshots of the embedded etcd, across restarts. 0 for none.")
	fs.StringVar(&o.Dir, "snapshot-dir", o.Dir, "Folder of these snapshots; a disk of its own also helps when the one of --data-dir is lost. (default the folder snapshots in --data-dir)")
	fs.IntVar(&o.Keep, "snapshot-keep", o.Keep, "Number of these snapshots that are kept. Fewer are kept, but one at least, where the disk would not have room for boxes otherwise.")
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
