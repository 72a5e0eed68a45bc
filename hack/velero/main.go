// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Command velero-plugin-directory is a plugin of Velero that stores backups in a directory. It is for the tests of
// pkg/e2e/ecosystem.
package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework"
	"github.com/vmware-tanzu/velero/pkg/plugin/velero"
)

func main() {
	framework.NewServer().RegisterObjectStore("modelbox.test/directory", newDirectory).Serve()
}

// directory is an object store whose objects are files. Buckets are folders in the directory that the config of the location has as
// "path".
type directory struct{ path string }

var _ velero.ObjectStore = (*directory)(nil)

func newDirectory(logrus.FieldLogger) (any, error) { return new(directory), nil }

func (d *directory) Init(config map[string]string) error {
	d.path = config["path"]
	if !filepath.IsAbs(d.path) {
		return fmt.Errorf("the config of the location has the path %q, want an absolute path", d.path)
	}
	return os.MkdirAll(filepath.Join(d.path, config["bucket"]), 0o700)
}

func (d *directory) PutObject(bucket, key string, body io.Reader) error {
	path := filepath.Join(d.path, bucket, key)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, body)
	return errors.Join(err, file.Close())
}

func (d *directory) ObjectExists(bucket, key string) (bool, error) {
	_, err := os.Stat(filepath.Join(d.path, bucket, key))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func (d *directory) GetObject(bucket, key string) (io.ReadCloser, error) {
	return os.Open(filepath.Join(d.path, bucket, key))
}

func (d *directory) ListCommonPrefixes(bucket, prefix, delimiter string) ([]string, error) {
	keys, err := d.ListObjects(bucket, prefix)
	var prefixes []string
	for _, key := range keys {
		if name, _, found := strings.Cut(strings.TrimPrefix(key, prefix), delimiter); found {
			prefixes = append(prefixes, prefix+name+delimiter)
		}
	}
	return slices.Compact(prefixes), err
}

// ListObjects lists keys in alphabetical order.
func (d *directory) ListObjects(bucket, prefix string) ([]string, error) {
	var keys []string
	folder := filepath.Join(d.path, bucket)
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		key, err := filepath.Rel(folder, path)
		if err == nil && strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
		return err
	})
	slices.Sort(keys)
	return keys, err
}

func (d *directory) DeleteObject(bucket, key string) error {
	return os.Remove(filepath.Join(d.path, bucket, key))
}

// CreateSignedURL is for users who download logs of backups, which the tests do not.
func (*directory) CreateSignedURL(string, string, time.Duration) (string, error) {
	return "", errors.ErrUnsupported
}
