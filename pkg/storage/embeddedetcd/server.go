// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package embeddedetcd runs an etcd server inside this process. It listens on a unix socket only.
package embeddedetcd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/klog/v2"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/durable"
)

// maxSocketPath is the longest path of a unix socket on Linux (sun_path without its terminating zero).
const maxSocketPath = 107

// Server is a running etcd.
type Server struct {
	release     func()
	etcd        *embed.Etcd
	logger      *etcdLogger
	space       *space
	maintenance *maintenance
}

// Config is the configuration of an etcd.
type Config struct {
	// Dir is the directory of the data and the socket. Start creates it if it does not exist.
	Dir string
	// QuotaBackendBytes is the size of the database at which etcd refuses writes. 0 is the largest size that fits on the disk, at
	// most 8 GiB.
	QuotaBackendBytes int64
}

// Endpoint returns the endpoint of an etcd in dir: "unix://" and the path of a socket. It returns an error if the path is too long
// for a socket.
func Endpoint(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("resolving the data directory: %w", err)
	}
	socket := filepath.Join(dir, "client.sock")
	if len(socket) > maxSocketPath {
		return "", fmt.Errorf("data directory %s is too long: the path of the unix socket in it has %d characters and may have %d", dir, len(socket), maxSocketPath)
	}
	return "unix://" + socket, nil
}

// Exists returns whether the data directory dir has the data of an etcd.
func Exists(dir string) bool {
	member := MemberConfig(dir).Dir
	return fileutil.Exist(member) && !fileutil.DirEmpty(member)
}

// Start runs an etcd and returns once it serves clients. It fails without touching anything if another process uses the directory,
// and if the directory is for the files of all users. The caller must Stop it.
func Start(ctx context.Context, config Config) (*Server, error) {
	endpoint, err := Endpoint(config.Dir)
	if err != nil {
		return nil, err
	}
	socket := strings.TrimPrefix(endpoint, "unix://")
	config.Dir = filepath.Dir(socket)
	// A second etcd in the same directory would delete the socket of the first before it notices the lock of the database.
	// Therefore, lock the directory first.
	release, err := Lock(ctx, config.Dir)
	if err != nil {
		return nil, err
	}
	server, err := startLocked(ctx, config, socket)
	if err != nil {
		release()
		return nil, err
	}
	server.release = release
	return server, nil
}

func startLocked(ctx context.Context, config Config, socket string) (*Server, error) {
	dir := config.Dir
	if err := MakePrivateDir(filepath.Join(dir, "etcd")); err != nil {
		return nil, err
	}
	if err := discardInterruptedStart(ctx, dir); err != nil {
		return nil, err
	}
	if config.QuotaBackendBytes == 0 {
		quota, err := deriveQuota(dir)
		if err != nil {
			return nil, err
		}
		config.QuotaBackendBytes = quota
	}
	registerMetrics() // values that are set before are lost
	space, err := newSpace(dir, config.QuotaBackendBytes)
	if err != nil {
		return nil, err
	}
	logger := newEtcdLogger(klog.FromContext(ctx).WithName("etcd"))

	etcd, err := embed.StartEtcd(configuration(dir, socket, config.QuotaBackendBytes, logger))
	if err != nil {
		return nil, fmt.Errorf("starting etcd in %s: %w", dir, err)
	}
	server := &Server{etcd: etcd, logger: logger, space: space}
	if err := server.awaitReady(ctx); err != nil {
		server.close()
		return nil, fmt.Errorf("waiting for etcd in %s to become ready: %w", dir, err)
	}
	// etcd syncs its files, but not the names of the database and of the directories that it creates.
	if err := durable.SyncDirectories(filepath.Join(dir, "etcd")); err != nil {
		server.close()
		return nil, fmt.Errorf("syncing the directories of etcd: %w", err)
	}
	if err := os.Chmod(socket, fileutil.PrivateFileMode); err != nil {
		server.close()
		return nil, fmt.Errorf("restricting the permissions of the socket of etcd: %w", err)
	}
	space.setEtcd(etcd.Server)
	server.maintenance = startMaintenance(ctx, etcd.Server, dir, space)
	return server, nil
}

func (s *Server) awaitReady(ctx context.Context) error {
	select {
	case <-s.etcd.Server.ReadyNotify():
		return nil
	case err := <-s.etcd.Err():
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Err returns a channel with the errors of etcd after its start.
func (s *Server) Err() <-chan error { return s.etcd.Err() }

// Shortage returns the reason why the server must refuse new and larger boxes now, nil if there is none.
func (s *Server) Shortage() *Shortage { return s.space.shortage() }

// BytesForBoxes returns the part of the quota for boxes, in bytes.
func (s *Server) BytesForBoxes() int64 { return s.space.forBoxes() }

// Stop stops etcd and unlocks the data directory. Close all clients first.
func (s *Server) Stop() {
	s.maintenance.close()
	s.close()
	s.release()
}

func (s *Server) close() {
	s.logger.closing()
	s.etcd.Close()
}
