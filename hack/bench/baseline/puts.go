// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package bare

import (
	"context"
	"errors"
	"fmt"
	"path"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/ground"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/load"
)

// putPrefix is the prefix of the keys that only this program reads.
const putPrefix = "/bench/"

// Values are the values of one box and its children that the etcds have at the end, in the order of the writes.
type Values []value

type value struct {
	etcd ground.Etcd
	// key is the end of the key. A value that is written again has the same key.
	key     string
	content string
}

// ObserveValues returns what the etcds have of a box that a controller has made the children of. A box is written twice: when it is
// created, and with its status.
func ObserveValues(ctx context.Context, g *ground.Ground, namespace, box string) (Values, error) {
	var values Values
	for _, stored := range []struct {
		etcd ground.Etcd
		keys string
	}{
		{ground.EmbeddedEtcd, "/registry/model.github.com/modelboxes"},
		{ground.ClusterEtcd, "/registry/deployments"},
		{ground.ClusterEtcd, "/registry/services/specs"},
		{ground.EmbeddedEtcd, "/registry/model.github.com/modelboxes"},
	} {
		client, err := g.EtcdClient(stored.etcd)
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

// Putter puts values into the etcds, and nothing else.
type Putter struct {
	clients map[ground.Etcd]*clientv3.Client
}

// NewPutter returns a Putter, which has to be closed.
func NewPutter(g *ground.Ground) (*Putter, error) {
	p := &Putter{clients: map[ground.Etcd]*clientv3.Client{}}
	for _, etcd := range []ground.Etcd{ground.ClusterEtcd, ground.EmbeddedEtcd} {
		client, err := g.EtcdClient(etcd)
		if err != nil {
			return nil, errors.Join(err, p.Close())
		}
		p.clients[etcd] = client
	}
	return p, nil
}

// Put puts the values of so many boxes, for so many of them at a time.
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

// Remove removes all that was put.
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
