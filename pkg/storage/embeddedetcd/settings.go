// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package embeddedetcd

import (
	"net/url"
	"path/filepath"

	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/storage/wal"
)

const (
	// memberName is the name of the only member, in the cluster of its own.
	memberName = "modelbox"

	// A single member elects itself, so the timeouts that guard a network of members only cost start-up time.
	tickMilliseconds     = 10
	electionMilliseconds = 100

	// walSegmentBytes keeps the preallocated log small; etcd's default is 64 MB a segment.
	walSegmentBytes = 8 << 20

	// snapshotCount is after how many writes the log up to there is not needed any more to start: at most 64 MB of
	// boxes of the largest size. It costs three more fsyncs each time.
	snapshotCount = 500
	// catchUpEntries is how many writes stay in memory for members that lag behind. There is none; 0 is etcd's default
	// of 5,000. Some 100 that are not part of a snapshot in memory yet stay anyway.
	catchUpEntries = 1
)

// init sets what etcd has no option for, once: a running server reads it.
func init() { wal.SegmentSizeBytes = walSegmentBytes }

// MemberConfig returns what an etcd in the data directory dir is known by, which a restored one has to agree with.
func MemberConfig(dir string) *embed.Config {
	// The member needs an address to be known by, but there is no other member to listen for: without a peer
	// listener there is no socket that file permissions would not protect.
	peer := url.URL{Scheme: "unix", Path: filepath.Join(dir, "peer.sock")}

	config := embed.NewConfig()
	config.Name = memberName
	config.Dir = filepath.Join(dir, "etcd")
	config.ListenPeerUrls, config.AdvertisePeerUrls = nil, []url.URL{peer}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	return config
}

func configuration(dir, socket string, quota int64, logger *etcdLogger) *embed.Config {
	client := url.URL{Scheme: "unix", Path: socket}

	config := MemberConfig(dir)
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	config.EnableGRPCGateway = false
	config.TickMs, config.ElectionMs = tickMilliseconds, electionMilliseconds
	config.SnapshotCount, config.SnapshotCatchUpEntries = snapshotCount, catchUpEntries
	config.MaxWalFiles = 0 // maintenance purges them, and does not wait for 30 seconds
	config.QuotaBackendBytes = quota
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(logger.zap())
	return config
}
