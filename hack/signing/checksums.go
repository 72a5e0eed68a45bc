// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// releaseFile is a file of a release with its SHA-256 in hexadecimal.
type releaseFile struct {
	name, sha256 string
}

// verifyChecksums returns the files in the checksums, in the format of sha256sum. It returns an error if the folder has another
// file, or one with another checksum. Files that this command writes are not part of the checksums.
func verifyChecksums(folder string, checksums []byte) ([]releaseFile, error) {
	var files []releaseFile
	known := map[string]bool{checksumsFile: true, publicKeyFile: true, signatureFile: true, provenanceFile: true}
	for line := range strings.Lines(string(checksums)) {
		sum, name, found := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if !found || name == "" || name != filepath.Base(name) {
			return nil, fmt.Errorf("%s: %q must be a checksum, two spaces and the name of a file", checksumsFile, line)
		}
		actual, err := sha256Of(filepath.Join(folder, name))
		if err != nil {
			return nil, fmt.Errorf("computing the checksum of %s: %w", name, err)
		}
		if actual != sum {
			return nil, fmt.Errorf("%s has the checksum %s, and %s in %s", name, actual, sum, checksumsFile)
		}
		known[name] = true
		files = append(files, releaseFile{name, sum})
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("listing the files of the release: %w", err)
	}
	for _, entry := range entries {
		if !known[entry.Name()] {
			return nil, fmt.Errorf("%s has no checksum in %s", entry.Name(), checksumsFile)
		}
	}
	return files, nil
}

func sha256Of(file string) (string, error) {
	reader, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer func() { _ = reader.Close() }()
	hash := sha256.New()
	if _, err := io.Copy(hash, reader); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
