// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// value is what a client of etcd has written at a key.
type value struct {
	data              []byte
	created, revision int64
	// lease is the lease whose end deletes the value, 0 if there is none.
	lease int64
}

// NewClient returns a client of etcd that reads the stored objects, whose keys have the prefix, and reads and writes other values. A lease
// only ends when it is revoked.
func (s *Store) NewClient(ctx context.Context, prefix string) *clientv3.Client {
	client := clientv3.NewCtxClient(ctx)
	client.KV = clientv3.NewKVFromKVClient(&keyValues{store: s, prefix: prefix}, client)
	client.Lease = clientv3.NewLeaseFromLeaseClient(&leases{store: s}, client, time.Second)
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
	return kv.rangeLocked(in), nil
}

func (kv *keyValues) rangeLocked(in *pb.RangeRequest) *pb.RangeResponse {
	out := &pb.RangeResponse{Header: kv.header()}
	keys := kv.keysBetween(string(in.Key), string(in.RangeEnd))
	if in.SortTarget == pb.RangeRequest_CREATE {
		slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(kv.at(a).created, kv.at(b).created) })
	}
	for _, key := range keys {
		out.Count++
		switch {
		case in.CountOnly:
		case in.Limit > 0 && int64(len(out.Kvs)) == in.Limit:
			out.More = true
		default:
			value := kv.at(key)
			out.Kvs = append(out.Kvs, &mvccpb.KeyValue{Key: []byte(key), Value: value.data, CreateRevision: value.created, ModRevision: value.revision})
		}
	}
	return out
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

// at returns the value at the key, whose revisions are 0 if there is none. The revision at which an object was created is not known.
func (kv *keyValues) at(key string) value {
	if written, exists := kv.store.values[key]; exists {
		return written
	}
	if entry := kv.store.entries[strings.TrimPrefix(key, kv.prefix)]; entry != nil {
		return value{data: entry.data, created: entry.revision, revision: entry.revision}
	}
	return value{}
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
	created := kv.store.revision
	if before, exists := kv.store.values[string(in.Key)]; exists {
		created = before.created
	}
	kv.store.values[string(in.Key)] = value{in.Value, created, kv.store.revision, in.Lease}
}

// DeleteRange implements pb.KVClient, for one key.
func (kv *keyValues) DeleteRange(_ context.Context, in *pb.DeleteRangeRequest, _ ...grpc.CallOption) (*pb.DeleteRangeResponse, error) {
	kv.store.mu.Lock()
	defer kv.store.mu.Unlock()
	kv.store.revision++
	delete(kv.store.values, string(in.Key))
	return &pb.DeleteRangeResponse{Header: kv.header()}, nil
}

// Txn implements pb.KVClient.
func (kv *keyValues) Txn(_ context.Context, in *pb.TxnRequest, _ ...grpc.CallOption) (*pb.TxnResponse, error) {
	kv.store.mu.Lock()
	defer kv.store.mu.Unlock()
	out := &pb.TxnResponse{Succeeded: true}
	for _, compare := range in.Compare {
		value, isEqual := kv.at(string(compare.Key)), false
		switch {
		case compare.Result == pb.Compare_EQUAL && compare.Target == pb.Compare_MOD:
			isEqual = value.revision == compare.GetModRevision()
		case compare.Result == pb.Compare_EQUAL && compare.Target == pb.Compare_CREATE:
			isEqual = value.created == compare.GetCreateRevision()
		default:
			return nil, status.Errorf(codes.Unimplemented, "comparison %s", compare)
		}
		out.Succeeded = out.Succeeded && isEqual
	}
	operations := in.Failure
	if out.Succeeded {
		operations = in.Success
	}
	if slices.ContainsFunc(operations, func(operation *pb.RequestOp) bool { return operation.GetRequestRange() == nil }) {
		kv.store.revision++
	}
	for _, operation := range operations {
		response := &pb.ResponseOp{}
		switch {
		case operation.GetRequestPut() != nil:
			kv.putLocked(operation.GetRequestPut())
		case operation.GetRequestDeleteRange() != nil:
			delete(kv.store.values, string(operation.GetRequestDeleteRange().Key))
		case operation.GetRequestRange() != nil:
			response.Response = &pb.ResponseOp_ResponseRange{ResponseRange: kv.rangeLocked(operation.GetRequestRange())}
		default:
			return nil, status.Errorf(codes.Unimplemented, "operation %s", operation)
		}
		out.Responses = append(out.Responses, response)
	}
	out.Header = kv.header()
	return out, nil
}

func (kv *keyValues) header() *pb.ResponseHeader {
	return &pb.ResponseHeader{ClusterId: kv.store.clusterID, Revision: kv.store.revision}
}
