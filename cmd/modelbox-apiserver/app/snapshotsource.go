// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apiserver/pkg/storage/storagebackend"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/etcdclient"
)

// connectTimeout is how long etcd may take to answer before a snapshot is given up.
const connectTimeout = 20 * time.Second

// connectToEtcd returns a client of the first of the servers, for a snapshot is of one member, that has answered.
func connectToEtcd(ctx context.Context, config storagebackend.TransportConfig) (*clientv3.Client, error) {
	endpoint := config.ServerList[0]
	config.ServerList = []string{endpoint}
	client, err := etcdclient.New(config)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	if _, err := client.Status(ctx, endpoint); err != nil {
		_ = client.Close()
		return nil, fmt.Errorf("connecting to etcd at %s: %w", endpoint, err)
	}
	return client, nil
}
