// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package snapshot saves snapshots of an etcd, reads their status, and restores an embedded etcd from them. The files have the
// format of etcdctl and etcdutl.
package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/durable"
)

// partSuffix is the suffix of a file that is not complete yet.
const partSuffix = ".part"

// Save saves a snapshot to a file, which must not exist, and returns its status. If it returns nil, the file is complete, verified
// and synced to the disk. After an error, the file does not exist. The client must have the endpoint of one member only.
func Save(ctx context.Context, client *clientv3.Client, file string) (*Status, error) {
	if _, err := os.Lstat(file); !errors.Is(err, os.ErrNotExist) {
		if err == nil {
			err = os.ErrExist
		}
		return nil, fmt.Errorf("saving a snapshot to %s: %w", file, err)
	}
	status, err := save(ctx, client, file)
	if err != nil {
		return nil, fmt.Errorf("saving a snapshot to %s: %w", file, errors.Join(err, removePart(file)))
	}
	return status, nil
}

func removePart(file string) error {
	if err := os.Remove(file + partSuffix); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func save(ctx context.Context, client *clientv3.Client, file string) (*Status, error) {
	part := file + partSuffix
	if err := receive(ctx, client, part); err != nil {
		return nil, err
	}
	status, err := Read(part)
	if err != nil {
		return nil, err
	}
	if err := os.Rename(part, file); err != nil {
		return nil, err
	}
	return status, durable.Sync(filepath.Dir(file))
}

// receive writes the snapshot from etcd to a file, and syncs it.
func receive(ctx context.Context, client *clientv3.Client, part string) error {
	out, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, fileutil.PrivateFileMode)
	if err != nil {
		return err
	}
	defer out.Close()
	in, err := client.Snapshot(ctx)
	if err != nil {
		return fmt.Errorf("requesting a snapshot from etcd: %w", err)
	}
	defer in.Close()
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	if err := fileutil.Fsync(out); err != nil {
		return err
	}
	return out.Close()
}
