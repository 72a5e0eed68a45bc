// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"k8s.io/apimachinery/pkg/util/uuid"
)

// Identity names this process to the others. dataDir is the folder of the embedded etcd, empty where an outside one is used.
//
// The embedded etcd lives in one process at a time, so its process has the name of the folder, which it keeps when it is started
// again: a leader that was killed then takes up its Lease at once. Any other process gets a name of its own, and so does one on a
// copy of the folder, whose original may be in use.
func Identity(dataDir string) (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("reading the host name: %w", err)
	}
	if dataDir == "" {
		return host + "_" + string(uuid.NewUUID()), nil
	}
	file := filepath.Join(dataDir, "identity")
	data, err := os.ReadFile(file)
	if os.IsNotExist(err) || err == nil && len(data) == 0 {
		data = []byte(uuid.NewUUID())
		err = writeWhole(file, data)
	}
	if err != nil {
		return "", fmt.Errorf("keeping the identity of the data directory: %w", err)
	}
	place, err := placeOf(host, file)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("embedded_%s_%s", data, place), nil
}

// placeOf tells a file of the host from all copies of it: they are on another host, on another disk, or beside it.
func placeOf(host, file string) (string, error) {
	info, err := os.Stat(file)
	if err != nil {
		return "", fmt.Errorf("looking for where the data directory is: %w", err)
	}
	var device, inode uint64
	if stat, isUnix := info.Sys().(*syscall.Stat_t); isUnix {
		device, inode = uint64(stat.Dev), stat.Ino
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d", host, device, inode))
	return hex.EncodeToString(sum[:4]), nil
}

// writeWhole leaves either the whole file or none behind, wherever the process is stopped.
func writeWhole(file string, data []byte) error {
	draft := file + ".new"
	if err := os.WriteFile(draft, data, 0o600); err != nil {
		return err
	}
	return os.Rename(draft, file)
}
