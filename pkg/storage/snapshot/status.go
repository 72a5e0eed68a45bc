// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"

	"go.etcd.io/etcd/etcdutl/v3/snapshot"
	"go.uber.org/zap"
)

// Status is what is in a snapshot.
type Status struct {
	// Hash is a checksum of all keys and values, of this and of older revisions.
	Hash uint32 `json:"hash"`
	// Revision is the last one that the snapshot has.
	Revision int64 `json:"revision"`
	// Keys is the number of keys that exist at that revision. All but a few of them are boxes.
	Keys int `json:"keys"`
	// Bytes is the size of the database.
	Bytes int64 `json:"bytes"`
}

// sectorBytes divides the size of every database, so that a file with a checksum is told from one without.
const sectorBytes = 512

// Read verifies the checksum of the file and the structure of the database in it.
func Read(file string) (*Status, error) {
	if err := verifyChecksum(file); err != nil {
		return nil, fmt.Errorf("verifying %s: %w", file, err)
	}
	status, err := snapshot.NewV3(zap.NewNop()).Status(file)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	return &Status{Hash: status.Hash, Revision: status.Revision, Keys: status.TotalKey, Bytes: status.TotalSize}, nil
}

// verifyChecksum compares the SHA-256 at the end of the file with that of all before.
func verifyChecksum(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.Size() == 0 || info.Size()%sectorBytes != sha256.Size {
		return errors.New("it has no checksum at its end: it is not a snapshot, or is truncated")
	}
	hash := sha256.New()
	if _, err := io.CopyN(hash, file, info.Size()-sha256.Size); err != nil {
		return err
	}
	want, err := io.ReadAll(file)
	if err != nil {
		return err
	}
	if !bytes.Equal(hash.Sum(nil), want) {
		return errors.New("its checksum does not match: it is damaged")
	}
	return nil
}
