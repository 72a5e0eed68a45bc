// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package pairs

import (
	"testing"
	"time"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// timeout is how long a step of a pair may take. What is denied is tried again after five minutes at most.
const timeout = 10 * time.Minute

// way is one to make a change, or to take it back. Its steps are taken with all pairs of it, one step after the other.
type way[P subject] struct {
	name string
	// prepare does something to the namespace before the changes, and returns what ends it after them.
	prepare func(*framework.Namespace) (end func())
	// change changes what is Ready.
	change func(P)
	// strike happens to all when they have changed.
	strike func(*framework.Namespace)
	// takeBack changes something after that.
	takeBack func(P)

	// isOfNewOnes says that something new takes the place of what there was; keepsChildren, that it gets the children.
	isOfNewOnes, keepsChildren bool
	// isUnfinished says that pods never become what the change asks for; getsStuck, that some wait for a node that there is not.
	isUnfinished, getsStuck bool
	// deletesChildren says that people delete the workload.
	deletesChildren bool
	// replacesPods says that pods are replaced whatever changes.
	replacesPods bool
}

// subject is a pair of a change and a way.
type subject interface {
	// name is that of the change.
	name() string
	place() *cell
	// begin creates what is changed, and returns when it is Ready.
	begin()
	// expectConverged waits until all is as it should be, and checks what that has cost.
	expectConverged()
}

// cell is where a pair is tried.
type cell struct {
	*framework.Namespace
	// hasFailed says that the steps to come would fail as well.
	hasFailed bool
}

func (c *cell) place() *cell { return c }

// run takes each step of the way with all pairs.
func run[P subject](n *framework.Namespace, w *way[P], pairs []P) {
	n.T.Helper()
	each := func(step string, take func(P)) {
		n.T.Run(step, func(t *testing.T) {
			for _, p := range pairs {
				cell := p.place()
				if cell.hasFailed {
					continue
				}
				t.Run(p.name(), func(t *testing.T) {
					t.Parallel()
					cell.Namespace, cell.hasFailed = n.In(t), true
					take(p)
					cell.hasFailed = t.Failed()
				})
			}
		})
	}
	each("before", func(p P) { p.begin() })
	end := func() {}
	if w.prepare != nil {
		end = w.prepare(n)
	}
	each("change", w.change)
	end()
	if w.strike != nil {
		w.strike(n)
	}
	each("after", func(p P) {
		if w.takeBack != nil {
			w.takeBack(p)
		}
		p.expectConverged()
	})
}
