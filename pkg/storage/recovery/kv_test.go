// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"maps"
	"slices"
	"sync"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// hook is called before a request to a store. The request fails with its error.
type hook func(ctx context.Context, verb, key string) error

// hookedKV calls a hook before each read, write and transaction. The key of a transaction is the key that it writes.
type hookedKV struct {
	clientv3.KV
	before hook
}

// hookRequests makes the store of the fixture call a hook before each request. The storage of the objects has its own client.
func (f *fixture) hookRequests(before hook) {
	f.store.client.KV = hookedKV{f.store.client.KV, before}
}

func (kv hookedKV) Get(ctx context.Context, key string, options ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	if err := kv.before(ctx, "get", key); err != nil {
		return nil, err
	}
	return kv.KV.Get(ctx, key, options...)
}

func (kv hookedKV) Put(ctx context.Context, key, value string, options ...clientv3.OpOption) (*clientv3.PutResponse, error) {
	if err := kv.before(ctx, "put", key); err != nil {
		return nil, err
	}
	return kv.KV.Put(ctx, key, value, options...)
}

func (kv hookedKV) Txn(ctx context.Context) clientv3.Txn {
	return &hookedTxn{ctx: ctx, hookedKV: kv, txn: kv.KV.Txn(ctx)}
}

type hookedTxn struct {
	hookedKV
	ctx context.Context
	txn clientv3.Txn
	key string
}

func (t *hookedTxn) If(conditions ...clientv3.Cmp) clientv3.Txn {
	t.txn = t.txn.If(conditions...)
	return t
}

func (t *hookedTxn) Then(ops ...clientv3.Op) clientv3.Txn {
	t.txn, t.key = t.txn.Then(ops...), string(ops[0].KeyBytes())
	return t
}

func (t *hookedTxn) Else(ops ...clientv3.Op) clientv3.Txn {
	t.txn = t.txn.Else(ops...)
	return t
}

func (t *hookedTxn) Commit() (*clientv3.TxnResponse, error) {
	if err := t.before(t.ctx, "txn", t.key); err != nil {
		return nil, err
	}
	return t.txn.Commit()
}

// memoryKV is a store without a network, which a test can use in a time of its own. It supports the requests of a Store.
type memoryKV struct {
	clientv3.KV
	mu       sync.Mutex
	revision int64
	values   map[string]*mvccpb.KeyValue
}

func newMemoryKV() *memoryKV { return &memoryKV{revision: 1, values: map[string]*mvccpb.KeyValue{}} }

// client returns a new client of the store.
func (kv *memoryKV) client() *clientv3.Client {
	client := clientv3.NewCtxClient(context.Background())
	client.KV = kv
	return client
}

func (kv *memoryKV) newClient() (*clientv3.Client, error) { return kv.client(), nil }

func (kv *memoryKV) header() *pb.ResponseHeader {
	return &pb.ResponseHeader{ClusterId: 1, Revision: kv.revision}
}

func (kv *memoryKV) Get(ctx context.Context, key string, options ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	kv.mu.Lock()
	defer kv.mu.Unlock()
	response := &clientv3.GetResponse{Header: kv.header()}
	end := string(clientv3.OpGet(key, options...).RangeBytes())
	for _, found := range slices.Sorted(maps.Keys(kv.values)) {
		if found == key || key < found && found < end {
			response.Kvs = append(response.Kvs, kv.values[found])
		}
	}
	response.Count = int64(len(response.Kvs))
	return response, ctx.Err()
}

func (kv *memoryKV) Put(ctx context.Context, key, value string, _ ...clientv3.OpOption) (*clientv3.PutResponse, error) {
	kv.mu.Lock()
	defer kv.mu.Unlock()
	kv.revision++
	kv.values[key] = &mvccpb.KeyValue{Key: []byte(key), Value: []byte(value), ModRevision: kv.revision}
	return &clientv3.PutResponse{Header: kv.header()}, ctx.Err()
}

func (kv *memoryKV) Txn(ctx context.Context) clientv3.Txn { return &memoryTxn{ctx: ctx, kv: kv} }

// memoryTxn writes one key without a condition: a test with memoryKV has one writer.
type memoryTxn struct {
	clientv3.Txn
	ctx context.Context
	kv  *memoryKV
	op  clientv3.Op
}

func (t *memoryTxn) If(...clientv3.Cmp) clientv3.Txn { return t }

func (t *memoryTxn) Then(ops ...clientv3.Op) clientv3.Txn {
	t.op = ops[0]
	return t
}

func (t *memoryTxn) Commit() (*clientv3.TxnResponse, error) {
	key := string(t.op.KeyBytes())
	if _, err := t.kv.Put(t.ctx, key, string(t.op.ValueBytes())); err != nil {
		return nil, err
	}
	t.kv.mu.Lock()
	defer t.kv.mu.Unlock()
	if t.op.IsDelete() {
		delete(t.kv.values, key)
	}
	return &clientv3.TxnResponse{Header: t.kv.header(), Succeeded: true}, nil
}
