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
	// memberName is the name of the only member of the etcd cluster.
	memberName = "modelbox"

	// A single member elects itself, one to five ticks after its start. Longer timeouts, for members in a network, would only delay
	// the start. Shorter ticks would wake an idle server more often. etcd requires at least five ticks for an election.
	tickMilliseconds     = 20
	electionMilliseconds = 5 * tickMilliseconds

	// walSegmentBytes is the size of a preallocated segment of the log. The default of etcd is 64 MB.
	walSegmentBytes = 8 << 20

	// snapshotCount is the number of writes after which etcd takes a snapshot of its log, so that a start does not read it: at most
	// 64 MB of boxes of the largest size. Each snapshot takes three fsyncs.
	snapshotCount = 500
	// catchUpEntries is the number of writes in memory for slow members. There are no other members, but 0 means 5,000, the default
	// of etcd. About 100 writes that are not in a snapshot yet stay in memory anyway.
	catchUpEntries = 1
)

// init sets a variable of etcd that has no option. It is set once, because a running server reads it.
func init() { wal.SegmentSizeBytes = walSegmentBytes }

// MemberConfig returns the identity of the member in the data directory dir: its name, URLs and directories. A restored etcd must
// have the same.
func MemberConfig(dir string) *embed.Config {
	// A member must have a peer URL, but there is no other member. Without a peer listener, there is no socket that file
	// permissions would not protect.
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
	config.MaxWalFiles = 0 // maintenance purges them, and does so more often than every 30 seconds
	config.QuotaBackendBytes = quota
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(logger.zap())
	return config
}
