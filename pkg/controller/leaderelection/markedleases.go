// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package leaderelection

import (
	"context"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
)

// Marker keeps on the Lease what its holder has to tell the cluster, at no request more.
type Marker interface {
	// Mark changes the metadata of a Lease that is about to be written.
	Mark(ctx context.Context, lease *coordinationv1.Lease)
	// Verify returns an error when a Lease that was read must not be acquired or renewed by this process.
	Verify(lease *coordinationv1.Lease) error
}

// markedLeases are Leases that are marked with each write, and verified with each read.
type markedLeases struct {
	coordinationv1client.CoordinationV1Interface
	marker Marker
}

// Leases returns the Leases of a namespace.
func (l markedLeases) Leases(namespace string) coordinationv1client.LeaseInterface {
	return leasesOfNamespace{l.CoordinationV1Interface.Leases(namespace), l.marker}
}

type leasesOfNamespace struct {
	coordinationv1client.LeaseInterface
	marker Marker
}

// Get reads a Lease and verifies it.
func (l leasesOfNamespace) Get(ctx context.Context, name string, options metav1.GetOptions) (*coordinationv1.Lease, error) {
	lease, err := l.LeaseInterface.Get(ctx, name, options)
	if err != nil {
		return nil, err
	}
	if err := l.marker.Verify(lease); err != nil {
		return nil, err
	}
	return lease, nil
}

// Create writes a new Lease, marked.
func (l leasesOfNamespace) Create(ctx context.Context, lease *coordinationv1.Lease, options metav1.CreateOptions) (*coordinationv1.Lease, error) {
	l.marker.Mark(ctx, lease)
	return l.LeaseInterface.Create(ctx, lease, options)
}

// Update writes a Lease, marked.
func (l leasesOfNamespace) Update(ctx context.Context, lease *coordinationv1.Lease, options metav1.UpdateOptions) (*coordinationv1.Lease, error) {
	l.marker.Mark(ctx, lease)
	return l.LeaseInterface.Update(ctx, lease, options)
}
