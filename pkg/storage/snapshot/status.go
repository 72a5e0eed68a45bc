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

// Status describes the contents of a snapshot.
type Status struct {
	// Hash is a checksum of the keys and values of all revisions in the snapshot.
	Hash uint32 `json:"hash"`
	// Revision is the last revision in the snapshot.
	Revision int64 `json:"revision"`
	// Keys is the number of keys that exist at that revision. All but a few of them are boxes.
	Keys int `json:"keys"`
	// Bytes is the size of the database in bytes.
	Bytes int64 `json:"bytes"`
}

// sectorBytes divides the size of every database. A file with a checksum has a different size.
const sectorBytes = 512

// Read verifies the checksum of the file and the structure of the database in it, and returns its status.
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

// verifyChecksum compares the SHA-256 at the end of the file with the SHA-256 of the data before it.
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
		return errors.New("the file has no checksum at its end: it is not a snapshot, or is truncated")
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
		return errors.New("the checksum does not match: the file is corrupt")
	}
	return nil
}
