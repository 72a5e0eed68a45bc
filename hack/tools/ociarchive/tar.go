// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// epoch replaces all times, so that builds are reproducible.
var epoch = time.Unix(0, 0).UTC()

// file is a regular file in a tar archive.
type file struct {
	// path has no leading slash.
	path       string
	size       int64
	executable bool
	open       func() (io.ReadCloser, error)
}

func contentFile(path string, content []byte) file {
	return file{path: path, size: int64(len(content)), open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content)), nil
	}}
}

// collect lists the files that the copies put into the image.
func collect(copies []fileCopy) ([]file, error) {
	var files []file
	for _, one := range copies {
		err := filepath.WalkDir(one.source, func(source string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			info, err := entry.Info()
			if err != nil {
				return err
			}
			if !info.Mode().IsRegular() {
				return fmt.Errorf("%s is neither a file nor a folder", source)
			}
			below, err := filepath.Rel(one.source, source)
			if err != nil {
				return err
			}
			files = append(files, file{
				path:       strings.TrimPrefix(path.Join(one.destination, filepath.ToSlash(below)), "/"),
				size:       info.Size(),
				executable: info.Mode()&0o111 != 0,
				open:       func() (io.ReadCloser, error) { return os.Open(source) },
			})
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("collecting files: %w", err)
		}
	}
	return files, nil
}

// writeTar writes the files and the folders that they are in, in the order of their paths. The owner is root, and time
// and permissions do not depend on those on disk, so that the same files become the same bytes.
func writeTar(writer io.Writer, files []file) error {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.path, b.path) })

	archive := tar.NewWriter(writer)
	written := map[string]bool{".": true}
	for _, one := range files {
		if written[one.path] {
			return fmt.Errorf("writing %s: there is one already", one.path)
		}
		written[one.path] = true
		if err := writeFolders(archive, path.Dir(one.path), written); err != nil {
			return err
		}
		if err := writeFile(archive, one); err != nil {
			return fmt.Errorf("writing %s: %w", one.path, err)
		}
	}
	return archive.Close()
}

func writeFolders(archive *tar.Writer, folder string, written map[string]bool) error {
	if written[folder] {
		return nil
	}
	written[folder] = true
	if err := writeFolders(archive, path.Dir(folder), written); err != nil {
		return err
	}
	return archive.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: folder + "/", Mode: 0o755, ModTime: epoch})
}

func writeFile(archive *tar.Writer, one file) error {
	header := &tar.Header{Typeflag: tar.TypeReg, Name: one.path, Size: one.size, Mode: 0o644, ModTime: epoch}
	if one.executable {
		header.Mode = 0o755
	}
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	content, err := one.open()
	if err != nil {
		return err
	}
	defer content.Close()
	_, err = io.Copy(archive, content)
	return err
}
