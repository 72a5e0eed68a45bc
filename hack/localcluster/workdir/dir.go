// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package workdir is the folder that one cluster lives in, and the right to it.
package workdir

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
)

// Dir is where one cluster keeps everything that it writes.
type Dir string

// New returns the directory of that path, which need not exist.
func New(path string) (Dir, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("resolving %q: %w", path, err)
	}
	return Dir(absolute), nil
}

// ID is short, the same at any time, and no other directory's. What a cluster
// needs outside of its directory is named by it.
func (d Dir) ID() string {
	sum := sha256.Sum256([]byte(d))
	return hex.EncodeToString(sum[:4])
}

func (d Dir) path(elements ...string) string {
	return filepath.Join(append([]string{string(d)}, elements...)...)
}

// Logs survive the cluster, until the next one starts.
func (d Dir) Logs(file ...string) string { return d.path(append([]string{"logs"}, file...)...) }

// Run holds pid files and sockets.
func (d Dir) Run(file ...string) string { return d.path(append([]string{"run"}, file...)...) }

// Config holds what the parts of the cluster are configured with, secrets too.
func (d Dir) Config(file ...string) string {
	return d.path(append([]string{"config"}, file...)...)
}

// PKI holds keys and certificates.
func (d Dir) PKI(file ...string) string { return d.path(append([]string{"pki"}, file...)...) }

// Data is what etcd stores.
func (d Dir) Data() string { return d.path("data") }

// Manifests is the kustomization that installs the product.
func (d Dir) Manifests(file ...string) string {
	return d.path(append([]string{"manifests"}, file...)...)
}

// ModelBox holds what the product gets and stores.
func (d Dir) ModelBox(file ...string) string {
	return d.path(append([]string{"modelbox"}, file...)...)
}

// Node is what a container node stores. A cluster without one has no such folder.
func (d Dir) Node(file ...string) string { return d.path(append([]string{"node"}, file...)...) }

// Kubeconfig is the administrator's.
func (d Dir) Kubeconfig() string { return d.path("kubeconfig") }

// BackgroundLog is what a cluster in the background says. Unlike the other logs
// it is open before the cluster claims the directory, and so is never removed.
func (d Dir) BackgroundLog() string { return d.Logs("localcluster.log") }

func (d Dir) folders() []string {
	return []string{d.Run(), d.Config(), d.PKI(), d.Data(), d.Manifests(), d.ModelBox()}
}

// removeState removes all but logs and the lock. It names what it removes, one by
// one: a directory given by mistake must not be emptied.
func (d Dir) removeState() error {
	for _, path := range append(d.folders(), d.Node(), d.Kubeconfig()) {
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("removing the state of an earlier cluster: %w", err)
		}
	}
	return nil
}

func (d Dir) removeLogs() error {
	logs, err := filepath.Glob(d.Logs("*.log*"))
	if err != nil {
		return fmt.Errorf("listing logs: %w", err)
	}
	for _, log := range logs {
		if log == d.BackgroundLog() {
			continue
		}
		if err := os.Remove(log); err != nil {
			return fmt.Errorf("removing the logs of an earlier cluster: %w", err)
		}
	}
	return nil
}

func (d Dir) createFolders() error {
	for _, path := range append(d.folders(), d.Logs()) {
		if err := os.MkdirAll(path, 0o700); err != nil {
			return fmt.Errorf("creating the cluster's folders: %w", err)
		}
	}
	return nil
}
