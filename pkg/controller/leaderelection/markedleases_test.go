// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package leaderelection

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"
)

// counter marks each Lease with the number of marks so far, and refuses the Leases of one holder.
type counter struct {
	mu      sync.Mutex
	marks   int
	refused string
}

func (c *counter) Mark(_ context.Context, lease *coordinationv1.Lease) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.marks++
	lease.Labels = map[string]string{"marks": strconv.Itoa(c.marks)}
}

func (c *counter) Verify(lease *coordinationv1.Lease) error {
	if ptr.Deref(lease.Spec.HolderIdentity, "") == c.refused {
		return errors.New("it is refused")
	}
	return nil
}

// marks returns what the Lease is marked with.
func (c *cluster) marks() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lease == nil {
		return 0
	}
	marks, _ := strconv.Atoi(c.lease.Labels["marks"])
	return marks
}

func TestEveryRenewalIsMarked(t *testing.T) {
	c := newCluster()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := Run(ctx, c.CoordinationV1(), configuration(), "one", &Fence{}, &counter{refused: "two"}, func(ctx context.Context) {
		for c.marks() < 3 && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		cancel()
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.marks(); got < 4 {
		t.Errorf("the Lease is marked %d times, its release included", got)
	}
}

func TestALeaseThatIsRefusedIsNotTaken(t *testing.T) {
	c := newCluster()
	c.store(&coordinationv1.Lease{}, 1) // no process holds it
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := Run(ctx, c.CoordinationV1(), configuration(), "one", &Fence{}, &counter{refused: ""}, func(context.Context) { t.Error("work is done") }); err != nil {
		t.Fatal(err)
	}
	if got := c.marks(); got != 0 {
		t.Errorf("the Lease is written %d times", got)
	}
}
