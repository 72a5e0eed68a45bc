// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package embeddedetcd runs an etcd server inside this process, reachable over a unix socket only.
package embeddedetcd

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"k8s.io/klog/v2"
)

const (
	// A single member elects itself, so the timeouts that guard a network of members only cost start-up time.
	tickMilliseconds     = 10
	electionMilliseconds = 100

	// walSegmentBytes keeps the preallocated log small; etcd's default is 64 MB a segment.
	walSegmentBytes = 8 << 20

	// quotaBytes is the size at which etcd refuses writes, the largest that etcd recommends.
	quotaBytes = 8 << 30

	// maxSocketPath is the longest path of a unix socket on Linux (sun_path without its terminating zero).
	maxSocketPath = 107
)

// init sets what etcd has no option for, once: a running server reads it.
func init() { wal.SegmentSizeBytes = walSegmentBytes }

// Server is a running etcd.
type Server struct {
	lock   *directoryLock
	etcd   *embed.Etcd
	logger *etcdLogger
}

// Endpoint returns the address at which an etcd started in dir serves: "unix://" and the path of a socket. It
// fails when the path would be too long for a socket.
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

// Start runs an etcd whose data and socket live in dir, which is created when it does not exist, and returns once
// etcd serves clients. It fails without touching anything when another process uses dir. Whoever starts it has
// to Stop it.
func Start(ctx context.Context, dir string) (*Server, error) {
	endpoint, err := Endpoint(dir)
	if err != nil {
		return nil, err
	}
	socket := strings.TrimPrefix(endpoint, "unix://")
	dir = filepath.Dir(socket)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating the data directory: %w", err)
	}
	// A second etcd on the same directory would delete the first one's socket before it notices that the
	// database is locked, so the directory is locked before etcd touches it.
	lock, err := lockDirectory(dir)
	if err != nil {
		return nil, err
	}
	server, err := startLocked(ctx, dir, socket)
	if err != nil {
		lock.release()
		return nil, err
	}
	server.lock = lock
	return server, nil
}

func startLocked(ctx context.Context, dir, socket string) (*Server, error) {
	logger := newEtcdLogger(klog.FromContext(ctx).WithName("etcd"))

	etcd, err := embed.StartEtcd(configuration(dir, socket, logger))
	if err != nil {
		return nil, fmt.Errorf("starting etcd in %s: %w", dir, err)
	}
	server := &Server{etcd: etcd, logger: logger}
	select {
	case <-etcd.Server.ReadyNotify():
		return server, nil
	case err := <-etcd.Err():
		server.close()
		return nil, fmt.Errorf("waiting for etcd in %s to become ready: %w", dir, err)
	case <-ctx.Done():
		server.close()
		return nil, fmt.Errorf("waiting for etcd in %s to become ready: %w", dir, ctx.Err())
	}
}

func configuration(dir, socket string, logger *etcdLogger) *embed.Config {
	client := url.URL{Scheme: "unix", Path: socket}
	// The member needs an address to be known by, but there is no other member to listen for: without a peer
	// listener there is no socket that file permissions would not protect.
	peer := url.URL{Scheme: "unix", Path: filepath.Join(dir, "peer.sock")}

	config := embed.NewConfig()
	config.Name = "modelbox"
	config.Dir = filepath.Join(dir, "etcd")
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	config.ListenPeerUrls, config.AdvertisePeerUrls = nil, []url.URL{peer}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	config.EnableGRPCGateway = false
	config.TickMs, config.ElectionMs = tickMilliseconds, electionMilliseconds
	config.QuotaBackendBytes = quotaBytes
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(logger.zap())
	return config
}

// Err returns a channel on which etcd reports that it failed after it had started.
func (s *Server) Err() <-chan error { return s.etcd.Err() }

// Stop ends etcd and gives up the data directory. Its clients have to be closed before.
func (s *Server) Stop() {
	s.close()
	s.lock.release()
}

func (s *Server) close() {
	s.logger.closing()
	s.etcd.Close()
}
