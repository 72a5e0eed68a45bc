// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/client/v3/concurrency"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
)

// errFound stops a list at the first object.
var errFound = errors.New("found")

// attempt is one attempt to serve from a store.
type attempt struct {
	*Runner
	store    *Store
	contents *contents

	// lease is nil if there is no Lease.
	lease     *coordinationv1.Lease
	mark      Mark
	position  Position
	situation Situation
	// absent has the absent owners. The server refuses requests for them.
	absent []AbsentOwner
}

// run returns the position of the store if it is ready to serve from, after a recovery if necessary.
func (a *attempt) run(ctx context.Context) (Position, error) {
	if err := a.inspect(ctx); err != nil {
		return Position{}, err
	}
	switch a.situation {
	case Current, New:
		return a.serve(ctx)
	}
	if a.Policy == Refuse {
		return Position{}, a.refusalError(ctx)
	}
	if err := a.checkOtherServer(); err != nil {
		return Position{}, err
	}
	if a.IsExclusive {
		return a.recover(ctx)
	}
	return a.recoverLocked(ctx)
}

// recoverLocked recovers a store that several servers share. A lock in the store lets one of them recover it at a time.
func (a *attempt) recoverLocked(ctx context.Context) (Position, error) {
	// The lock is also released if ctx is done.
	session, err := concurrency.NewSession(a.store.client, concurrency.WithTTL(lockSeconds), concurrency.WithContext(context.WithoutCancel(ctx)))
	if err != nil {
		return Position{}, fmt.Errorf("preparing to lock the store: %w", err)
	}
	defer session.Close()
	lock := concurrency.NewMutex(session, a.store.key("lock"))
	switch err := lock.TryLock(ctx); {
	case errors.Is(err, concurrency.ErrLocked):
		return Position{}, errors.New("another server is recovering the store")
	case err != nil:
		return Position{}, fmt.Errorf("locking the store: %w", err)
	}
	// The server that had the lock before may have recovered the store.
	if err := a.inspect(ctx); err != nil {
		return Position{}, err
	}
	if a.situation == Current {
		return a.serve(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-session.Done():
			cancel(errors.New("the lock of the store was lost"))
		case <-ctx.Done():
		}
	}()
	return a.recover(ctx)
}

// inspect reads the Lease and the position of the store, and compares them. It reads the Lease first, so that the revision on the
// Lease cannot be later than the revision of a current store.
func (a *attempt) inspect(ctx context.Context) error {
	var err error
	if a.Lease.Name != "" {
		a.lease, err = a.KubeClient.CoordinationV1().Leases(a.Lease.Namespace).Get(ctx, a.Lease.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			a.lease, err = nil, nil
		}
		if err != nil {
			return fmt.Errorf("getting Lease %s, on which the store is recorded: %w", a.Lease, err)
		}
	}
	if a.mark, err = markOf(a.lease); err != nil {
		return err
	}
	if a.position, err = a.store.Position(ctx); err != nil {
		return err
	}
	a.situation, err = assess(a.position, a.mark, func() (bool, error) {
		counted, err := a.contents.count(ctx)
		return !counted.isZero(), err
	}, func() (bool, error) {
		for _, objects := range a.contents.all() {
			switch err := objects.eachRecord(ctx, a.cluster(), func(child) error { return errFound }); {
			case errors.Is(err, errFound):
				return true, nil
			case err != nil:
				return false, err
			}
		}
		return false, nil
	})
	return err
}

// cluster returns the clients for the children in all namespaces.
func (a *attempt) cluster() *cluster { return &cluster{kube: a.KubeClient, metadata: a.MetadataClient} }

// serve checks that the store can be served from without a recovery, records it on the Lease, and returns its position.
func (a *attempt) serve(ctx context.Context) (Position, error) {
	// This may be a copy of the data directory of a server that is still alive. Both servers would serve different objects.
	if isOther := a.mark.Store != a.position.Identity.UID; a.mark.Store != "" && (a.IsExclusive || isOther) {
		if err := a.checkOtherServer(); err != nil {
			return Position{}, err
		}
	}
	// Without the encryption keys, the caches of this server would never be filled, and it would replace a server that has the
	// keys.
	if a.Policy != Ignore {
		if err := a.contents.checkReadable(ctx); err != nil {
			return Position{}, err
		}
	}
	read, err := a.store.absentOwners(ctx)
	if err != nil {
		return Position{}, err
	}
	a.absent = read.owners
	if a.Policy == Ignore {
		a.absent = nil
		if err := a.store.setAbsentOwners(ctx, read, nil); err != nil {
			return Position{}, err
		}
	}
	if a.position.Identity.UID == "" {
		if a.position, err = a.store.setIdentity(ctx, a.position, Identity{UID: uuid.NewUUID()}); err != nil {
			return Position{}, err
		}
	}
	if err := a.recordOnLease(ctx); err != nil {
		return Position{}, err
	}
	starts.WithLabelValues(string(a.situation)).Inc()
	klog.FromContext(ctx).Info("Serving from the store", "store", a.position.Identity.UID, "revision", a.position.Revision, "situation", a.situation)
	return a.position, nil
}

// checkOtherServer returns an error while another server that may be alive holds the Lease.
func (a *attempt) checkOtherServer() error {
	if !a.liveness.isHeld(a.lease) {
		return nil
	}
	holder := *a.lease.Spec.HolderIdentity
	if a.situation == Current && holder == a.Holder {
		return nil
	}
	return fmt.Errorf("the store is %s, and server %s, which serves from store %s, may be alive: it renewed Lease %s within the duration of the Lease",
		a.situation, holder, a.mark.Store, a.Lease)
}

// latestMark returns the mark with the highest revision: the mark of the Lease, or the mark of a recovery that has begun and not
// ended.
func (a *attempt) latestMark() Mark {
	if begun := a.position.Identity.Recovery; begun != nil && begun.Mark.Revision >= a.mark.Revision {
		return begun.Mark
	}
	return a.mark
}

// recover recovers the store by the policy, and records it on the Lease. If it is interrupted at any point, the next attempt
// completes the recovery.
func (a *attempt) recover(ctx context.Context) (Position, error) {
	identity := a.position.Identity
	counted, err := a.contents.count(ctx)
	if err != nil {
		return Position{}, err
	}
	logger := klog.FromContext(ctx)
	logger.Info("The store differs from the store on the Lease", "situation", a.situation, "policy", a.Policy,
		"store", identity.UID, "revision", a.position.Revision, "boxes", counted.boxes, "stacks", counted.stacks, "networks", counted.networks,
		"clusterStore", a.mark.Store, "clusterRevision", a.mark.Revision)

	if a.Policy != Ignore {
		if err := a.contents.checkReadable(ctx); err != nil {
			return Position{}, err
		}
	}
	identity.Recovery = &Recovery{Situation: a.situation, Mark: a.latestMark()}
	if a.position, err = a.store.setIdentity(ctx, a.position, identity); err != nil {
		return Position{}, err
	}
	// Clients have seen the former resource versions and compare them. Restored objects must have later versions.
	if err := a.raise(ctx, raisedRevision(identity.Recovery.Mark)); err != nil {
		return Position{}, err
	}
	done := &recovered{}
	if a.Policy == Recover {
		if done, err = recoverObjects(ctx, a.situation, a.contents, a.cluster()); err != nil {
			return Position{}, err
		}
	}
	if err := a.refuseOwners(ctx, done.orphans); err != nil {
		return Position{}, err
	}
	history := Identity{UID: uuid.NewUUID(), Ancestors: ancestorsOf(identity, identity.Recovery.Mark)}
	if a.position, err = a.store.setIdentity(ctx, a.position, history); err != nil {
		return Position{}, err
	}
	if err := a.recordOnLease(ctx); err != nil {
		return Position{}, err
	}
	starts.WithLabelValues(string(a.situation)).Inc()
	logger.Info("Recovered the store", "situation", a.situation, "policy", a.Policy,
		"boxes", done.boxes, "stacks", done.stacks, "networks", done.networks, "store", a.position.Identity.UID, "revision", a.position.Revision)
	return a.position, nil
}

// refuseOwners stores the owners of orphans as absent, so that the server refuses requests for them.
func (a *attempt) refuseOwners(ctx context.Context, orphans []orphan) error {
	read, err := a.store.absentOwners(ctx)
	if err != nil {
		return err
	}
	a.absent = absentOwnersOf(orphans)
	if err := a.store.setAbsentOwners(ctx, read, a.absent); err != nil {
		return err
	}
	if len(orphans) > 0 {
		klog.FromContext(ctx).Error(nil, "Some children have owners that are not in the store and have no readable record. The server refuses requests for these owners, so that the cluster does not delete the children. "+
			"Restore a snapshot that has the owners, delete the children, or remove their owner references. Or start the server with --store-recovery=ignore: the cluster then deletes the children",
			"owners", len(a.absent), "children", len(orphans), "some", nameChildren(orphans))
	}
	return nil
}

// recordOnLease records the store on the Lease, unless the Lease has it already. If the Lease names another store, it also releases
// the Lease from its former holder, so that no server on the other store renews it.
func (a *attempt) recordOnLease(ctx context.Context) error {
	if a.Lease.Name == "" || a.mark.Store == a.position.Identity.UID {
		return nil
	}
	leases := a.KubeClient.CoordinationV1().Leases(a.Lease.Namespace)
	var err error
	if a.lease == nil {
		lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: a.Lease.Namespace, Name: a.Lease.Name}}
		setMark(lease, a.position)
		_, err = leases.Create(ctx, lease, metav1.CreateOptions{})
	} else {
		lease := a.lease.DeepCopy()
		setMark(lease, a.position)
		if a.mark.Store != "" {
			lease.Spec.HolderIdentity = ptr.To("")
		}
		_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
	}
	if err != nil {
		return fmt.Errorf("recording the store on Lease %s: %w", a.Lease, err)
	}
	return nil
}

// refusalError returns the error of policy Refuse: the differences, and the possible actions.
func (a *attempt) refusalError(ctx context.Context) error {
	counted, err := a.contents.count(ctx)
	if err != nil {
		return err
	}
	recorded, lost := 0, 0
	for _, objects := range a.contents.all() {
		if err := objects.eachRecord(ctx, a.cluster(), func(child child) error {
			if _, err := objects.recordOn(child); err != nil {
				lost++
			} else {
				recorded++
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return fmt.Errorf("the store is %s: it is store %q at revision %d and has %s. The Lease names store %q at revision %d. The cluster has %d children with a readable record of a box, a stack or a network, and %d children without. "+
		"Start the server with the store that the Lease names, or recover this store with --store-recovery=recover. "+
		"Or serve from this store without a recovery, with --store-recovery=ignore: the cluster then deletes applications whose boxes the store does not have",
		a.situation, a.position.Identity.UID, a.position.Revision, counted, a.mark.Store, a.mark.Revision, recorded, lost)
}
