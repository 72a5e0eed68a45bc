// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package universe

import (
	"context"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	"github.com/sharelinuxs/modelbox-apiserver/hack/universe/store"
	"github.com/sharelinuxs/modelbox-apiserver/hack/universe/transport"
)

const (
	// maxMoves is the number of moves after which a run has not settled.
	maxMoves = 20_000
	// quiet is the time without a write after which a run has settled. It is longer than all deadlines and retries.
	quiet = 40 * time.Minute
	// patience is the time without a write after which a user no longer waits.
	patience = time.Minute
	// longestMove is the longest time that a move takes.
	longestMove = 5 * time.Millisecond
	// longestJump is the longest time during which nothing is handled. It is longer than the duration of a Lease, and shorter than the
	// time for which the controllers of Kubernetes wait until their caches show their writes.
	longestJump = 4 * time.Minute
	// longestPause is the longest time that passes at once if nothing else can happen.
	longestPause = time.Minute
)

// move is a possible next event.
type move struct {
	weight int
	run    func(context.Context) error
}

// unsettle makes the moves of the plan until its actions are done.
func (w *world) unsettle(ctx context.Context) error {
	actions := w.plan.Actions
	for len(actions) > 0 {
		if w.stats.Moves >= maxMoves {
			return nil
		}
		next := actions[0]
		moves, _ := w.moves(w.plan.Chaos)
		moves = append(moves,
			move{w.plan.Chaos.Actions, func(ctx context.Context) error {
				actions = actions[1:]
				if next.run == nil {
					w.note("user: waits")
					_, err := w.settle(ctx, patience)
					return err
				}
				err := next.run(ctx, w.users)
				w.note("user: %s: %s", next.Name, outcomeOf(err))
				return nil
			}},
			move{w.plan.Chaos.Kills, w.restartAny},
			move{w.plan.Chaos.Cuts, w.cutOff},
			move{w.plan.Chaos.Breaks, w.breakWatch},
			move{w.plan.Chaos.Compactions, w.compact},
			move{w.plan.Chaos.Jumps, w.jump},
			move{w.plan.Chaos.NodeFailures, w.failNode},
			move{w.plan.Chaos.Quotas, w.exceedQuota},
		)
		if err := w.make(ctx, moves); err != nil {
			return err
		}
	}
	return nil
}

// settle makes moves without failures until the store is served and nothing has been written for the time. It returns false if this
// takes too many moves.
func (w *world) settle(ctx context.Context, quiet time.Duration) (bool, error) {
	limit := w.stats.Moves + maxMoves
	w.lastWrite = time.Now()
	for w.stats.Moves < limit {
		moves, isIdle := w.moves(calm)
		if isIdle && w.isServed.Load() && time.Since(w.lastWrite) > quiet {
			return true, nil
		}
		if err := w.make(ctx, moves); err != nil {
			return false, err
		}
	}
	return false, nil
}

// moves returns the possible moves, except for actions of users and failures, and whether time must pass before anything else can
// happen.
func (w *world) moves(chaos Chaos) (moves []move, isIdle bool) {
	synctest.Wait()
	if waiting := w.waiting(); len(waiting) > 0 {
		moves = append(moves, move{chaos.Requests, func(context.Context) error {
			w.handle(waiting[w.random.IntN(len(waiting))], chaos)
			return nil
		}})
	}
	if watches := w.pendingWatches(); len(watches) > 0 {
		moves = append(moves, move{chaos.Watches, func(context.Context) error {
			watch := watches[w.random.IntN(len(watches))]
			count := 1 + w.random.IntN(watch.Pending())
			w.note("watch %d of %s: %d events", watch.ID(), watch.Key(), count)
			watch.Deliver(count)
			return nil
		}})
	}
	if steps := append(w.nodes.Steps(), w.gateway.Steps()...); len(steps) > 0 {
		moves = append(moves, move{chaos.Nodes, func(ctx context.Context) error {
			step := steps[w.random.IntN(len(steps))]
			w.note("step: %s", step)
			return step.Run(ctx)
		}})
	}
	isIdle = len(moves) == 0
	if isIdle || chaos.Time > 0 {
		moves = append(moves, move{max(chaos.Time, 1), func(context.Context) error {
			w.pass(isIdle)
			return nil
		}})
	}
	return moves, isIdle
}

// make makes one of the moves.
func (w *world) make(ctx context.Context, moves []move) error {
	w.stats.Moves++
	total := 0
	for _, move := range moves {
		total += move.weight
	}
	chosen := w.random.IntN(total)
	for _, move := range moves {
		if chosen -= move.weight; chosen < 0 {
			if err := move.run(ctx); err != nil {
				return err
			}
			time.Sleep(1 + time.Duration(w.random.Int64N(int64(longestMove))))
			synctest.Wait()
			w.checks.afterMove()
			return w.replaceStopped(ctx)
		}
	}
	return nil
}

// handle decides the outcome of the request.
func (w *world) handle(request *transport.Request, chaos Chaos) {
	outcome := transport.Answered
	if chance := w.random.IntN(1000); chance < chaos.Refused {
		outcome = transport.Refused
	} else if chance < chaos.Refused+chaos.Unanswered && request.IsWrite() {
		outcome = transport.Unanswered
	}
	w.stats.Requests++
	if outcome != transport.Answered {
		w.stats.Faults++
	}
	w.note("%s: %s", request, outcome)
	w.checks.begin(request)
	w.network.Let(request, outcome)
	synctest.Wait()
	w.checks.end(request, outcome)
}

// pass lets time pass. If nothing else can happen, it returns when a request arrives, or after longestPause.
func (w *world) pass(idle bool) {
	before := time.Now()
	if idle {
		select {
		case <-w.network.Arrived():
		case <-time.After(longestPause):
		}
	} else {
		time.Sleep(time.Duration(w.random.IntN(2000)) * time.Millisecond)
	}
	w.note("%s pass", time.Since(before))
}

// waiting returns the requests that can be handled.
func (w *world) waiting() []*transport.Request {
	return slices.DeleteFunc(w.network.Waiting(), func(request *transport.Request) bool { return w.isCutOff(request.Client) })
}

// pendingWatches returns the watches that can deliver something.
func (w *world) pendingWatches() []*store.Watch {
	return slices.DeleteFunc(w.watches(), func(watch *store.Watch) bool { return watch.Pending() == 0 || w.isCutOff(watch.Client()) })
}

func (w *world) watches() []*store.Watch {
	return append(w.modelBox.Watches(), w.kubernetes.Watches()...)
}

// isCutOff returns whether the network of the client does not work.
func (w *world) isCutOff(client string) bool {
	return slices.ContainsFunc(w.servers, func(server *process) bool {
		return server.client.Name() == client && time.Now().Before(server.cutOffUntil)
	})
}

// observe is called with each write.
func (w *world) observe(change store.Change) {
	if strings.HasPrefix(change.Key, "/events/") || strings.HasPrefix(change.Key, "/leases/") {
		return
	}
	if !isMeasurementForUser(change) {
		w.lastWrite = time.Now()
	}
	w.stats.Writes++
	w.checks.observe(change)
	w.note("  wrote %s", change.Key)
}

func outcomeOf(err error) string {
	if err == nil {
		return "done"
	}
	return err.Error()
}
