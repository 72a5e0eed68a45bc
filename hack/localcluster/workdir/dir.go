// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package workdir manages the directory of a cluster, and its lock.
package workdir

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
)

// Dir is the directory with all files of one cluster.
type Dir string

// New returns the directory with the path, which need not exist.
func New(path string) (Dir, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("resolving %q: %w", path, err)
	}
	return Dir(absolute), nil
}

// ID returns a short, stable and unique identifier of the directory. It is part of the names of resources outside of the directory.
func (d Dir) ID() string {
	sum := sha256.Sum256([]byte(d))
	return hex.EncodeToString(sum[:4])
}

func (d Dir) path(elements ...string) string {
	return filepath.Join(append([]string{string(d)}, elements...)...)
}

// Logs returns the directory of logs. They are kept until the next cluster starts.
func (d Dir) Logs(file ...string) string { return d.path(append([]string{"logs"}, file...)...) }

// Run returns the directory of pid files and sockets.
func (d Dir) Run(file ...string) string { return d.path(append([]string{"run"}, file...)...) }

// Config returns the directory of the configuration of the parts, including secrets.
func (d Dir) Config(file ...string) string {
	return d.path(append([]string{"config"}, file...)...)
}

// PKI returns the directory of keys and certificates.
func (d Dir) PKI(file ...string) string { return d.path(append([]string{"pki"}, file...)...) }

// Data returns the data directory of etcd.
func (d Dir) Data() string { return d.path("data") }

// Manifests returns the directory of the kustomization that installs the product.
func (d Dir) Manifests(file ...string) string {
	return d.path(append([]string{"manifests"}, file...)...)
}

// ModelBox returns the directory of the server.
func (d Dir) ModelBox(file ...string) string {
	return d.path(append([]string{"modelbox"}, file...)...)
}

// Node returns the directory of a container node, which only exists for a cluster with such a node.
func (d Dir) Node(file ...string) string { return d.path(append([]string{"node"}, file...)...) }

// Kubeconfig returns the path of the kubeconfig of the administrator.
func (d Dir) Kubeconfig() string { return d.path("kubeconfig") }

// BackgroundLog returns the path of the output of a cluster in the background. Unlike other logs, it is opened before the directory
// is locked, and therefore never removed.
func (d Dir) BackgroundLog() string { return d.Logs("localcluster.log") }

func (d Dir) folders() []string {
	return []string{d.Run(), d.Config(), d.PKI(), d.Data(), d.Manifests(), d.ModelBox()}
}

// removeState removes all files but logs and the lock. It only removes files by name, so that a wrong directory is not emptied.
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
