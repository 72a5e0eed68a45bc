// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"maps"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
)

// leaseSeconds is the TTL of all leases. It only decides how often clients keep a lease alive.
const leaseSeconds = 60

// leases implements the requests for leases of etcd that the recovery of a store sends.
type leases struct {
	pb.LeaseClient // Requests that are not implemented panic.
	store          *Store
}

// LeaseGrant implements pb.LeaseClient.
func (l *leases) LeaseGrant(context.Context, *pb.LeaseGrantRequest, ...grpc.CallOption) (*pb.LeaseGrantResponse, error) {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	l.store.lastLease++
	return &pb.LeaseGrantResponse{ID: l.store.lastLease, TTL: leaseSeconds}, nil
}

// LeaseRevoke implements pb.LeaseClient.
func (l *leases) LeaseRevoke(_ context.Context, in *pb.LeaseRevokeRequest, _ ...grpc.CallOption) (*pb.LeaseRevokeResponse, error) {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	maps.DeleteFunc(l.store.values, func(_ string, value value) bool { return value.lease == in.ID })
	return &pb.LeaseRevokeResponse{}, nil
}

// LeaseKeepAlive implements pb.LeaseClient.
func (*leases) LeaseKeepAlive(ctx context.Context, _ ...grpc.CallOption) (pb.Lease_LeaseKeepAliveClient, error) {
	return &keepAliveStream{ctx: ctx, ids: make(chan int64, 1)}, nil
}

// keepAliveStream confirms that leases are alive.
type keepAliveStream struct {
	grpc.ClientStream // Methods that are not implemented panic.
	ctx               context.Context
	// ids has the leases to confirm.
	ids chan int64
}

// Context implements grpc.ClientStream.
func (s *keepAliveStream) Context() context.Context { return s.ctx }

// CloseSend implements grpc.ClientStream.
func (*keepAliveStream) CloseSend() error { return nil }

// Send implements pb.Lease_LeaseKeepAliveClient.
func (s *keepAliveStream) Send(in *pb.LeaseKeepAliveRequest) error {
	select {
	case s.ids <- in.ID:
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
}

// Recv implements pb.Lease_LeaseKeepAliveClient.
func (s *keepAliveStream) Recv() (*pb.LeaseKeepAliveResponse, error) {
	select {
	case id := <-s.ids:
		return &pb.LeaseKeepAliveResponse{ID: id, TTL: leaseSeconds}, nil
	case <-s.ctx.Done():
		return nil, s.ctx.Err()
	}
}
