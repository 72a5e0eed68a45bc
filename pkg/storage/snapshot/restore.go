// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/etcdutl/v3/snapshot"
	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/durable"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/embeddedetcd"
)

// RevisionBump is the difference between the revision of a restored etcd and the revision of the snapshot. It is more than the
// number of writes since the snapshot, so that clients that saw these writes do not see lower revisions.
const RevisionBump = 1_000_000_000

// Restore creates an etcd in the data directory dir from a snapshot file, and returns the status of the snapshot. It fails if dir
// already has an etcd, or is in use. After an error, dir has no etcd. Reads and watches from revisions before the restored revision
// get 410 Expired, so that clients list again. The restored etcd is a new etcd cluster with a new ID.
func Restore(ctx context.Context, file, dir string) (*Status, error) {
	status, err := Read(file)
	if err != nil {
		return nil, err
	}
	// The configuration of the member has absolute paths.
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, fmt.Errorf("resolving the data directory: %w", err)
	}
	release, err := embeddedetcd.Lock(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := restore(file, dir); err != nil {
		return nil, fmt.Errorf("restoring %s to %s: %w", file, dir, err)
	}
	return status, nil
}

func restore(file, dir string) error {
	member := embeddedetcd.MemberConfig(dir)
	if embeddedetcd.Exists(dir) {
		return fmt.Errorf("%s already has data: specify another --data-dir, or move the data", member.Dir)
	}
	part := member.Dir + partSuffix
	if err := os.RemoveAll(part); err != nil {
		return err
	}
	err := snapshot.NewV3(zap.NewNop()).Restore(snapshot.RestoreConfig{
		SnapshotPath:        file,
		Name:                member.Name,
		OutputDataDir:       part,
		PeerURLs:            []string{member.AdvertisePeerUrls[0].String()},
		InitialCluster:      member.InitialCluster,
		InitialClusterToken: string(uuid.NewUUID()),
		RevisionBump:        RevisionBump,
		MarkCompacted:       true,
	})
	if err != nil {
		return errors.Join(err, os.RemoveAll(part))
	}
	if err := durable.SyncTree(part); err != nil {
		return err
	}
	if err := os.Remove(member.Dir); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.Rename(part, member.Dir); err != nil {
		return err
	}
	return durable.Sync(dir)
}
