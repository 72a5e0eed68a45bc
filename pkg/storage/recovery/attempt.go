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

// errFound ends a list at the first object.
var errFound = errors.New("found")

// attempt is one to serve from a store.
type attempt struct {
	*Runner
	store    *Store
	contents *contents

	// lease is nil where there is none.
	lease     *coordinationv1.Lease
	mark      Mark
	position  Position
	situation Situation
	// absent are the owners that requests are to be refused for.
	absent []AbsentOwner
}

// run returns the position that the store is served from, or why it is not yet.
func (a *attempt) run(ctx context.Context) (Position, error) {
	if err := a.look(ctx); err != nil {
		return Position{}, err
	}
	switch a.situation {
	case Current, New:
		return a.serve(ctx)
	}
	if a.Policy == Refuse {
		return Position{}, a.refusal(ctx)
	}
	if err := a.awaitOtherServer(); err != nil {
		return Position{}, err
	}
	if a.IsExclusive {
		return a.recover(ctx)
	}
	return a.recoverLocked(ctx)
}

// recoverLocked recovers a store that other servers may be about to recover, too.
func (a *attempt) recoverLocked(ctx context.Context) (Position, error) {
	// The lock is given back also when ctx is done.
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
	// The server that had the lock before has recovered the store.
	if err := a.look(ctx); err != nil {
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

// look reads how far the store is, and what the cluster knows. The cluster comes first: it cannot know of more than
// the store had by then.
func (a *attempt) look(ctx context.Context) error {
	var err error
	if a.Lease.Name != "" {
		a.lease, err = a.Cluster.CoordinationV1().Leases(a.Lease.Namespace).Get(ctx, a.Lease.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			a.lease, err = nil, nil
		}
		if err != nil {
			return fmt.Errorf("asking the cluster which store it knows: %w", err)
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

// cluster is where the children are.
func (a *attempt) cluster() *cluster { return &cluster{kube: a.Cluster, metadata: a.Children} }

// serve lets the store be served from as it is.
func (a *attempt) serve(ctx context.Context) (Position, error) {
	// The original of a copied data directory may be alive, and what is served from there is then not what is here.
	if isOther := a.mark.Store != a.position.Identity.UID; a.mark.Store != "" && (a.IsExclusive || isOther) {
		if err := a.awaitOtherServer(); err != nil {
			return Position{}, err
		}
	}
	// Its caches would never be filled, and it would take the place of a server that can read.
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
	if err := a.tell(ctx); err != nil {
		return Position{}, err
	}
	starts.WithLabelValues(string(a.situation)).Inc()
	klog.FromContext(ctx).Info("Serving from the store", "store", a.position.Identity.UID, "revision", a.position.Revision, "situation", a.situation)
	return a.position, nil
}

// awaitOtherServer returns an error while the Lease may be held by a server that is alive.
func (a *attempt) awaitOtherServer() error {
	if !a.liveness.isHeld(a.lease) {
		return nil
	}
	holder := *a.lease.Spec.HolderIdentity
	if a.situation == Current && holder == a.Holder {
		return nil
	}
	return fmt.Errorf("the store is %s, and server %s, which serves from store %s, may be alive: it has renewed Lease %s within its duration",
		a.situation, holder, a.mark.Store, a.Lease)
}

// latestMark is the furthest that the cluster is known to have known, now or when a recovery was begun that has not ended.
func (a *attempt) latestMark() Mark {
	if begun := a.position.Identity.Recovery; begun != nil && begun.Mark.Revision >= a.mark.Revision {
		return begun.Mark
	}
	return a.mark
}

// recover makes the store one that may be served from, and tells the cluster. Wherever it ends, the next attempt does
// what is missing.
func (a *attempt) recover(ctx context.Context) (Position, error) {
	identity := a.position.Identity
	counted, err := a.contents.count(ctx)
	if err != nil {
		return Position{}, err
	}
	logger := klog.FromContext(ctx)
	logger.Info("The store has less than the cluster knows of", "situation", a.situation, "policy", a.Policy,
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
	// Before anything is restored: clients compare the versions of objects, and have seen the former ones.
	if err := a.raise(ctx, raisedRevision(identity.Recovery.Mark)); err != nil {
		return Position{}, err
	}
	done := &recovered{}
	if a.Policy == Recover {
		if done, err = recoverObjects(ctx, a.situation, a.contents, a.cluster()); err != nil {
			return Position{}, err
		}
	}
	if err := a.withhold(ctx, done.orphans); err != nil {
		return Position{}, err
	}
	history := Identity{UID: uuid.NewUUID(), Ancestors: ancestorsOf(identity, identity.Recovery.Mark)}
	if a.position, err = a.store.setIdentity(ctx, a.position, history); err != nil {
		return Position{}, err
	}
	if err := a.tell(ctx); err != nil {
		return Position{}, err
	}
	starts.WithLabelValues(string(a.situation)).Inc()
	logger.Info("The store was recovered", "situation", a.situation, "policy", a.Policy,
		"boxes", done.boxes, "stacks", done.stacks, "networks", done.networks, "store", a.position.Identity.UID, "revision", a.position.Revision)
	return a.position, nil
}

// withhold has requests refused for the owners of orphans.
func (a *attempt) withhold(ctx context.Context, orphans []orphan) error {
	read, err := a.store.absentOwners(ctx)
	if err != nil {
		return err
	}
	a.absent = absentOwnersOf(orphans)
	if err := a.store.setAbsentOwners(ctx, read, a.absent); err != nil {
		return err
	}
	if len(orphans) > 0 {
		klog.FromContext(ctx).Error(nil, "Children name owners that are neither in the store nor recorded. Requests for these owners are refused, so that the children are not deleted. "+
			"Restore a snapshot that has the owners, or delete the children, or remove their owner references, or have the cluster delete them with --store-recovery=ignore",
			"owners", len(a.absent), "children", len(orphans), "some", nameChildren(orphans))
	}
	return nil
}

// tell records on the Lease in the cluster which store the server serves from, unless the Lease has it already. No other server
// then holds the Lease and would record another store.
func (a *attempt) tell(ctx context.Context) error {
	if a.Lease.Name == "" || a.mark.Store == a.position.Identity.UID {
		return nil
	}
	leases := a.Cluster.CoordinationV1().Leases(a.Lease.Namespace)
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
		return fmt.Errorf("telling the cluster which store it has: %w", err)
	}
	return nil
}

// refusal says what was found, and what can be done about it.
func (a *attempt) refusal(ctx context.Context) error {
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
	return fmt.Errorf("the store is %s: it is store %q at revision %d and has %s, the cluster knows store %q at revision %d and has %d children that record a box, a stack or a network and %d that should and do not. "+
		"Give the server the store that the cluster knows, or recover this one with --store-recovery=recover, or take it as it is with --store-recovery=ignore, which deletes applications whose boxes it does not have",
		a.situation, a.position.Identity.UID, a.position.Revision, counted, a.mark.Store, a.mark.Revision, recorded, lost)
}
