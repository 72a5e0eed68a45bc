// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package baseline

import (
	"context"
	"errors"
	"fmt"
	"path"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/load"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/testbed"
)

// putPrefix is the prefix of the keys of a Putter, which no server reads.
const putPrefix = "/bench/"

// Values are the final values of one box and its children in both etcds, in the order of the writes.
type Values []value

type value struct {
	etcd testbed.Etcd
	// key is the end of the key. A second write of an object has the same key.
	key     string
	content string
}

// ObserveValues returns the values in both etcds of a box and of the children that a controller has created for it. A box is
// written twice: at its creation, and with its status.
func ObserveValues(ctx context.Context, bed *testbed.Testbed, namespace, box string) (Values, error) {
	var values Values
	for _, stored := range []struct {
		etcd testbed.Etcd
		keys string
	}{
		{testbed.EmbeddedEtcd, "/registry/model.github.com/modelboxes"},
		{testbed.ClusterEtcd, "/registry/deployments"},
		{testbed.ClusterEtcd, "/registry/services/specs"},
		{testbed.EmbeddedEtcd, "/registry/model.github.com/modelboxes"},
	} {
		client, err := bed.EtcdClient(stored.etcd)
		if err != nil {
			return nil, err
		}
		key := path.Join(stored.keys, namespace, box)
		answer, err := client.Get(ctx, key)
		if err := errors.Join(err, client.Close()); err != nil {
			return nil, fmt.Errorf("reading %s: %w", key, err)
		}
		if len(answer.Kvs) == 0 {
			return nil, fmt.Errorf("there is no %s in etcd", key)
		}
		values = append(values, value{stored.etcd, stored.keys, string(answer.Kvs[0].Value)})
	}
	return values, nil
}

// Putter puts values into both etcds, and does nothing else.
type Putter struct {
	clients map[testbed.Etcd]*clientv3.Client
}

// NewPutter returns a Putter. The caller must close it.
func NewPutter(bed *testbed.Testbed) (*Putter, error) {
	p := &Putter{clients: map[testbed.Etcd]*clientv3.Client{}}
	for _, etcd := range []testbed.Etcd{testbed.ClusterEtcd, testbed.EmbeddedEtcd} {
		client, err := bed.EtcdClient(etcd)
		if err != nil {
			return nil, errors.Join(err, p.Close())
		}
		p.clients[etcd] = client
	}
	return p, nil
}

// Put puts the values of count boxes, for as many boxes concurrently as there are workers.
func (p *Putter) Put(ctx context.Context, values Values, count, workers int) error {
	_, err := load.Run(ctx, workers, count, func(ctx context.Context, _, i int) error {
		for _, value := range values {
			key := fmt.Sprintf("%sbox-%d%s", putPrefix, i, value.key)
			if _, err := p.clients[value.etcd].Put(ctx, key, value.content); err != nil {
				return fmt.Errorf("writing to etcd: %w", err)
			}
		}
		return nil
	})
	return err
}

// Remove removes all values that were put.
func (p *Putter) Remove(ctx context.Context) error {
	for etcd, client := range p.clients {
		if _, err := client.Delete(ctx, putPrefix, clientv3.WithPrefix()); err != nil {
			return fmt.Errorf("removing what was put into %s: %w", etcd, err)
		}
	}
	return nil
}

// Close closes the connections.
func (p *Putter) Close() error {
	var errs []error
	for _, client := range p.clients {
		errs = append(errs, client.Close())
	}
	return errors.Join(errs...)
}
