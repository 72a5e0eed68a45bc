// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"context"
	"fmt"
	"net"
	"path/filepath"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
)

// Etcd selects one of the two etcds of a control plane.
type Etcd string

// The etcd of the cluster, and the embedded etcd of the server.
const (
	ClusterEtcd  Etcd = "run/etcd.sock:1"
	EmbeddedEtcd Etcd = "modelbox/data/client.sock"
)

// StoredBytes returns the number of keys with the prefix, and the bytes of these keys and their values.
func (bed *Testbed) StoredBytes(ctx context.Context, which Etcd, prefix string) (keys, bytes int64, err error) {
	client, err := bed.EtcdClient(which)
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

// EtcdClient returns a client of an etcd. The caller must close it.
func (bed *Testbed) EtcdClient(which Etcd) (*clientv3.Client, error) {
	socket := filepath.Join(bed.Dir, string(which))
	client, err := clientv3.New(clientv3.Config{
		// The name of the socket may contain a colon, which an address of gRPC cannot.
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
