// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package pairs

import (
	"testing"
	"time"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// timeout is the timeout for a step of a pair. The controller retries a denied write after five minutes at most.
const timeout = 10 * time.Minute

// way is a way to make or to revert a change. Each of its steps runs for all pairs before the next step.
type way[P subject] struct {
	name string
	// prepare does something to the namespace before the changes, and returns what ends it after them.
	prepare func(*framework.Namespace) (end func())
	// change makes the change on a Ready object.
	change func(P)
	// strike disturbs all pairs after the change.
	strike func(*framework.Namespace)
	// takeBack reverts the change after that.
	takeBack func(P)

	// isOfNewOnes is true if a new object replaces the former one, and keepsChildren if it adopts the children.
	isOfNewOnes, keepsChildren bool
	// isUnfinished is true if the rollout of the change never completes, and getsStuck if some pods wait for a node that does not
	// exist.
	isUnfinished, getsStuck bool
	// deletesChildren is true if users delete the workload.
	deletesChildren bool
	// replacesPods is true if every change replaces pods.
	replacesPods bool
}

// subject is a pair of a change and a way.
type subject interface {
	// name is the name of the change.
	name() string
	place() *cell
	// begin creates the object, and waits until it is Ready.
	begin()
	// expectConverged waits until everything matches, and checks that nothing was lost.
	expectConverged()
}

// cell is one run of a pair.
type cell struct {
	*framework.Namespace
	// hasFailed is true if the further steps would fail as well.
	hasFailed bool
}

func (c *cell) place() *cell { return c }

// run runs each step of the way for all pairs.
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
