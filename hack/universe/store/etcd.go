// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"slices"
	"strings"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// value is what a client of etcd has written at a key.
type value struct {
	data     []byte
	revision int64
}

// NewClient returns a client of etcd that reads the stored objects, whose keys have the prefix, and reads and writes other values. Leases
// never expire.
func (s *Store) NewClient(ctx context.Context, prefix string) *clientv3.Client {
	client := clientv3.NewCtxClient(ctx)
	client.KV = clientv3.NewKVFromKVClient(&keyValues{store: s, prefix: prefix}, client)
	client.Lease = clientv3.NewLeaseFromLeaseClient(leases{}, client, 0)
	return client
}

// keyValues implements the requests for keys of etcd that the recovery of a store sends.
type keyValues struct {
	pb.KVClient // Requests that are not implemented panic.
	store       *Store
	prefix      string
}

// Range implements pb.KVClient.
func (kv *keyValues) Range(_ context.Context, in *pb.RangeRequest, _ ...grpc.CallOption) (*pb.RangeResponse, error) {
	kv.store.mu.Lock()
	defer kv.store.mu.Unlock()
	out := &pb.RangeResponse{Header: kv.header()}
	for _, key := range kv.keysBetween(string(in.Key), string(in.RangeEnd)) {
		out.Count++
		switch {
		case in.CountOnly:
		case in.Limit > 0 && int64(len(out.Kvs)) == in.Limit:
			out.More = true
		default:
			data, revision := kv.at(key)
			out.Kvs = append(out.Kvs, &mvccpb.KeyValue{Key: []byte(key), Value: data, ModRevision: revision})
		}
	}
	return out, nil
}

// keysBetween returns the keys from the first one to the end, sorted, or the first one if there is no end.
func (kv *keyValues) keysBetween(first, end string) []string {
	isInRange := func(key string) bool { return key == first || end != "" && key >= first && key < end }
	var keys []string
	for _, key := range kv.store.keys {
		if key := kv.prefix + key; isInRange(key) {
			keys = append(keys, key)
		}
	}
	for key := range kv.store.values {
		if isInRange(key) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// at returns the value at the key, and its revision, 0 if there is none.
func (kv *keyValues) at(key string) ([]byte, int64) {
	if written, exists := kv.store.values[key]; exists {
		return written.data, written.revision
	}
	if entry := kv.store.entries[strings.TrimPrefix(key, kv.prefix)]; entry != nil {
		return entry.data, entry.revision
	}
	return nil, 0
}

// Put implements pb.KVClient.
func (kv *keyValues) Put(_ context.Context, in *pb.PutRequest, _ ...grpc.CallOption) (*pb.PutResponse, error) {
	kv.store.mu.Lock()
	defer kv.store.mu.Unlock()
	kv.store.revision++
	kv.putLocked(in)
	return &pb.PutResponse{Header: kv.header()}, nil
}

func (kv *keyValues) putLocked(in *pb.PutRequest) {
	kv.store.values[string(in.Key)] = value{in.Value, kv.store.revision}
}

// Txn implements pb.KVClient.
func (kv *keyValues) Txn(_ context.Context, in *pb.TxnRequest, _ ...grpc.CallOption) (*pb.TxnResponse, error) {
	kv.store.mu.Lock()
	defer kv.store.mu.Unlock()
	out := &pb.TxnResponse{Succeeded: true}
	for _, compare := range in.Compare {
		if compare.Target != pb.Compare_MOD || compare.Result != pb.Compare_EQUAL {
			return nil, status.Errorf(codes.Unimplemented, "comparison %s", compare)
		}
		_, revision := kv.at(string(compare.Key))
		out.Succeeded = out.Succeeded && revision == compare.GetModRevision()
	}
	operations := in.Failure
	if out.Succeeded {
		operations = in.Success
	}
	if slices.ContainsFunc(operations, func(operation *pb.RequestOp) bool { return operation.GetRequestRange() == nil }) {
		kv.store.revision++
	}
	for _, operation := range operations {
		switch {
		case operation.GetRequestPut() != nil:
			kv.putLocked(operation.GetRequestPut())
		case operation.GetRequestDeleteRange() != nil:
			delete(kv.store.values, string(operation.GetRequestDeleteRange().Key))
		default:
			return nil, status.Errorf(codes.Unimplemented, "operation %s", operation)
		}
		out.Responses = append(out.Responses, &pb.ResponseOp{})
	}
	out.Header = kv.header()
	return out, nil
}

func (kv *keyValues) header() *pb.ResponseHeader {
	return &pb.ResponseHeader{ClusterId: kv.store.clusterID, Revision: kv.store.revision}
}

// leases implements the requests for leases of etcd that the recovery of a store sends.
type leases struct {
	pb.LeaseClient // Requests that are not implemented panic.
}

// LeaseGrant implements pb.LeaseClient.
func (leases) LeaseGrant(_ context.Context, in *pb.LeaseGrantRequest, _ ...grpc.CallOption) (*pb.LeaseGrantResponse, error) {
	return &pb.LeaseGrantResponse{ID: 1, TTL: in.TTL}, nil
}
