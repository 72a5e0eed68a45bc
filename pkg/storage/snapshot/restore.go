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

// RevisionBump is how much higher the restored revision is than the revision of the snapshot. That is more than all writes since
// the snapshot, so that no client that saw these writes sees revisions that go back.
const RevisionBump = 1_000_000_000

// Restore makes the etcd of the data directory dir from the file. It fails if dir has one already, or is in use, and leaves either
// the whole etcd or none. Clients cannot read or watch from revisions before the restored one: the server tells them to list again.
// The etcd is another cluster than the saved one, with an ID of its own.
func Restore(ctx context.Context, file, dir string) (*Status, error) {
	status, err := Read(file)
	if err != nil {
		return nil, err
	}
	// Whatever is the path of a data directory is absolute in the configuration of its member.
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
