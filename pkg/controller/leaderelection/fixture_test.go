// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package leaderelection

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	componentbaseconfig "k8s.io/component-base/config"
	"k8s.io/utils/ptr"
)

// configuration returns one whose Lease does not run out while a test runs: it only changes hands by being released.
func configuration() componentbaseconfig.LeaderElectionConfiguration {
	return componentbaseconfig.LeaderElectionConfiguration{
		LeaderElect:       true,
		LeaseDuration:     metav1.Duration{Duration: time.Hour},
		RenewDeadline:     metav1.Duration{Duration: time.Minute},
		RetryPeriod:       metav1.Duration{Duration: 5 * time.Millisecond},
		ResourceLock:      "leases",
		ResourceName:      "modelbox-controller",
		ResourceNamespace: "modelbox-system",
	}
}

// cluster is a server of one Lease that refuses writes of an older version of it, as a real one does and the plain
// fake does not.
type cluster struct {
	*fake.Clientset

	mu    sync.Mutex
	lease *coordinationv1.Lease
	// onUpdate sees every update and the name of its new holder, empty for a release. It returns the error of the update.
	onUpdate func(holder string) error
}

func newCluster() *cluster {
	c := &cluster{Clientset: fake.NewClientset()}
	c.PrependReactor("*", "leases", func(action clienttesting.Action) (bool, runtime.Object, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		lease, err := c.answer(action)
		if err != nil {
			return true, nil, err
		}
		return true, lease.DeepCopy(), nil
	})
	return c
}

func (c *cluster) answer(action clienttesting.Action) (*coordinationv1.Lease, error) {
	resource := coordinationv1.Resource("leases")
	switch action := action.(type) {
	case clienttesting.UpdateAction: // Also what a create looks like.
		lease := action.GetObject().(*coordinationv1.Lease)
		switch {
		case action.GetVerb() == "create" && c.lease != nil:
			return nil, apierrors.NewAlreadyExists(resource, lease.Name)
		case action.GetVerb() == "create":
			return c.store(lease, 1), nil
		case lease.ResourceVersion != c.lease.ResourceVersion:
			return nil, apierrors.NewConflict(resource, lease.Name, errors.New("it was changed"))
		}
		if c.onUpdate != nil {
			if err := c.onUpdate(ptr.Deref(lease.Spec.HolderIdentity, "")); err != nil {
				return nil, err
			}
		}
		version, err := strconv.Atoi(c.lease.ResourceVersion)
		if err != nil {
			return nil, err
		}
		return c.store(lease, version+1), nil
	default:
		if c.lease == nil {
			return nil, apierrors.NewNotFound(resource, "modelbox-controller")
		}
		return c.lease, nil
	}
}

func (c *cluster) store(lease *coordinationv1.Lease, version int) *coordinationv1.Lease {
	c.lease = lease.DeepCopy()
	c.lease.ResourceVersion = strconv.Itoa(version)
	return c.lease
}

// holder returns the holder of the Lease, empty if no process holds it.
func (c *cluster) holder() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lease == nil {
		return ""
	}
	return ptr.Deref(c.lease.Spec.HolderIdentity, "")
}

// working counts who works at the moment.
type working struct {
	now   atomic.Int32
	total atomic.Int32
}

// during runs do as work, which is done by one at a time.
func (w *working) during(t *testing.T, do func()) {
	if others := w.now.Add(1) - 1; others != 0 {
		t.Errorf("work began while %d others were at it", others)
	}
	w.total.Add(1)
	do()
	w.now.Add(-1)
}

// campaigner is a Run in the background.
type campaigner struct {
	cancel context.CancelFunc
	ended  chan error
}

func start(t *testing.T, c *cluster, config componentbaseconfig.LeaderElectionConfiguration, identity string, work func(ctx context.Context)) *campaigner {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	run := &campaigner{cancel: cancel, ended: make(chan error, 1)}
	go func() { run.ended <- Run(ctx, c.CoordinationV1(), config, identity, &Fence{}, nil, work) }()
	return run
}

// stop ends the campaign and waits for its end.
func (r *campaigner) stop(t *testing.T) {
	t.Helper()
	r.cancel()
	if err := <-r.ended; err != nil {
		t.Error(err)
	}
}
