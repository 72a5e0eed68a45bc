// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ground

import (
	"context"
	"fmt"
	"net"
	"path/filepath"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
)

// Etcd is one of the two that a control plane has.
type Etcd string

// The etcd of the cluster, and the one that the server embeds.
const (
	ClusterEtcd  Etcd = "run/etcd.sock:1"
	EmbeddedEtcd Etcd = "modelbox/data/client.sock"
)

// StoredBytes returns how many keys begin with the prefix, and how many bytes they and their values have.
func (g *Ground) StoredBytes(ctx context.Context, which Etcd, prefix string) (keys, bytes int64, err error) {
	client, err := g.EtcdClient(which)
	if err != nil {
		return 0, 0, err
	}
	defer client.Close()
	const page = 500
	for from, end := prefix, clientv3.GetPrefixRangeEnd(prefix); ; {
		answer, err := client.Get(ctx, from, clientv3.WithRange(end), clientv3.WithLimit(page))
		if err != nil {
			return 0, 0, fmt.Errorf("reading %s: %w", which, err)
		}
		for _, kv := range answer.Kvs {
			keys, bytes = keys+1, bytes+int64(len(kv.Key)+len(kv.Value))
			from = string(kv.Key) + "\x00"
		}
		if !answer.More {
			return keys, bytes, nil
		}
	}
}

// EtcdClient returns a client of an etcd itself.
func (g *Ground) EtcdClient(which Etcd) (*clientv3.Client, error) {
	socket := filepath.Join(g.Dir, string(which))
	client, err := clientv3.New(clientv3.Config{
		// The name of the socket may have a colon in it, which an address of gRPC may not.
		Endpoints: []string{"passthrough:///etcd"},
		DialOptions: []grpc.DialOption{grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		})},
		Logger: zap.NewNop(),
	})
	if err != nil {
		return nil, fmt.Errorf("creating a client of the etcd at %s: %w", socket, err)
	}
	return client, nil
}
