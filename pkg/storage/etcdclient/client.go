// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package etcdclient creates clients of the etcd of the server, for requests that storage.Interface does not have.
package etcdclient

import (
	"context"
	"fmt"
	"net"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"k8s.io/apiserver/pkg/server/egressselector"
	"k8s.io/apiserver/pkg/storage/storagebackend"
)

// The same values as in the clients of k8s.io/apiserver.
const (
	dialTimeout      = 20 * time.Second
	keepaliveTime    = 30 * time.Second
	keepaliveTimeout = 10 * time.Second
)

// New returns a client with the endpoints, certificates and egress of the transport. It does not wait for a connection. The caller
// must close the client.
func New(config storagebackend.TransportConfig) (*clientv3.Client, error) {
	clientConfig := clientv3.Config{
		Endpoints:            config.ServerList,
		DialTimeout:          dialTimeout,
		DialKeepAliveTime:    keepaliveTime,
		DialKeepAliveTimeout: keepaliveTimeout,
		Logger:               zap.NewNop(),
	}
	if config.CertFile != "" || config.KeyFile != "" || config.TrustedCAFile != "" {
		info := transport.TLSInfo{CertFile: config.CertFile, KeyFile: config.KeyFile, TrustedCAFile: config.TrustedCAFile}
		tlsConfig, err := info.ClientConfig()
		if err != nil {
			return nil, fmt.Errorf("reading the certificates for etcd: %w", err)
		}
		clientConfig.TLS = tlsConfig
	}
	if config.EgressLookup != nil {
		dial, err := config.EgressLookup(egressselector.Etcd.AsNetworkContext())
		if err != nil {
			return nil, fmt.Errorf("getting the egress to etcd: %w", err)
		}
		if dial != nil {
			clientConfig.DialOptions = append(clientConfig.DialOptions, grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
				return dial(ctx, "tcp", address)
			}))
		}
	}
	client, err := clientv3.New(clientConfig)
	if err != nil {
		return nil, fmt.Errorf("creating a client of etcd: %w", err)
	}
	return client, nil
}
