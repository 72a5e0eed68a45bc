// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package universe

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
)

// Plan says what happens in a run. The seed also decides in which order.
type Plan struct {
	Seed uint64
	// Servers is the number of servers of ModelBox, of which one leads.
	Servers int
	// LosesStores is true if actions replace the store of ModelBox. The server then recovers the store before it serves.
	LosesStores bool
	Actions     []Action
	Chaos       Chaos
}

// Action is an action of a user. It does not depend on earlier actions.
type Action struct {
	Name string
	// run is nil for a user who waits until everything has settled.
	run func(context.Context, *users) error
}

// Chaos has the weight of each kind of move, and the number of requests of 1,000 that fail. A move is as probable as its share of
// the weights.
type Chaos struct {
	Requests, Watches, Nodes, Time, Actions int
	Kills, Cuts, Breaks, Compactions, Jumps int
	NodeFailures, Quotas                    int
	Refused, Unanswered                     int
}

// calm is a chaos without failures, in which time passes only if nothing else can happen.
var calm = Chaos{Requests: 100, Watches: 100, Nodes: 20}

const (
	// maxActions is the number of actions from which a plan gets no more.
	maxActions = 60
	// maxScenario is the number of actions from which a scenario gets no more.
	maxScenario = 5
	// One plan of longPlans has actions for all boxes and stacks. The others are scenarios, which find most defects in a fraction of the
	// time.
	longPlans = 16
)

// NewPlan returns the plan of the seed.
func NewPlan(seed uint64) Plan {
	random := rand.New(rand.NewPCG(seed, 0))
	// Each seed is slow, or fails, in its own ways.
	choose := func(values ...int) int { return values[random.IntN(len(values))] }
	plan := Plan{Seed: seed, Servers: choose(1, 1, 2), Chaos: Chaos{
		Requests:     choose(20, 100, 100),
		Watches:      choose(10, 50, 100),
		Nodes:        choose(5, 20, 50),
		Time:         choose(0, 2, 10, 40),
		Actions:      choose(1, 2, 5, 20),
		Kills:        choose(0, 0, 1),
		Cuts:         choose(0, 0, 1),
		Breaks:       choose(0, 1, 3),
		Compactions:  choose(0, 1),
		Jumps:        choose(0, 0, 0, 1),
		NodeFailures: choose(0, 0, 0, 1),
		Quotas:       choose(0, 0, 0, 1),
		Refused:      choose(0, 0, 10, 50),
		Unanswered:   choose(0, 0, 10, 50),
	}}
	plan.LosesStores = choose(0, 1) == 1
	author := newAuthor(random)
	author.losesStores = plan.LosesStores
	if random.IntN(longPlans) > 0 {
		plan.Actions = author.newScenario(2 + random.IntN(maxScenario-1))
		return plan
	}
	for count := 1 + random.IntN(maxActions); len(plan.Actions) < count; {
		plan.Actions = append(plan.Actions, author.newActions()...)
	}
	return plan
}

// String describes the plan: what users do, one action a line, after what else happens.
func (p Plan) String() string {
	lines := []string{fmt.Sprintf("seed %d, %d servers, loses stores: %t, %+v", p.Seed, p.Servers, p.LosesStores, p.Chaos)}
	for _, action := range p.Actions {
		lines = append(lines, "  "+action.Name)
	}
	return strings.Join(lines, "\n")
}
