// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"k8s.io/apiserver/pkg/storage/storagebackend"
)

const (
	etcdDialTimeout      = 20 * time.Second
	etcdKeepaliveTime    = 30 * time.Second
	etcdKeepaliveTimeout = 10 * time.Second
)

// newEtcdClient returns a client of the first of the servers, which answers, with the credentials that it asks for.
func newEtcdClient(ctx context.Context, config storagebackend.TransportConfig) (*clientv3.Client, error) {
	endpoint := config.ServerList[0]
	clientConfig := clientv3.Config{
		Endpoints:            []string{endpoint},
		DialTimeout:          etcdDialTimeout,
		DialKeepAliveTime:    etcdKeepaliveTime,
		DialKeepAliveTimeout: etcdKeepaliveTimeout,
		Logger:               zap.NewNop(),
	}
	if config.CertFile != "" || config.KeyFile != "" || config.TrustedCAFile != "" {
		info := transport.TLSInfo{CertFile: config.CertFile, KeyFile: config.KeyFile, TrustedCAFile: config.TrustedCAFile}
		tls, err := info.ClientConfig()
		if err != nil {
			return nil, fmt.Errorf("reading the credentials for etcd: %w", err)
		}
		clientConfig.TLS = tls
	}
	client, err := clientv3.New(clientConfig)
	if err != nil {
		return nil, fmt.Errorf("creating a client of etcd at %s: %w", endpoint, err)
	}
	ctx, cancel := context.WithTimeout(ctx, etcdDialTimeout)
	defer cancel()
	if _, err := client.Status(ctx, endpoint); err != nil {
		_ = client.Close()
		return nil, fmt.Errorf("connecting to etcd at %s: %w", endpoint, err)
	}
	return client, nil
}
