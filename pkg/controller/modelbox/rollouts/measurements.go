// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
)

const (
	// measurementTimeout is how long a reconcile waits for the answers to the queries that it starts.
	measurementTimeout = time.Second
	// measurementRecheck is after how long a box is requeued whose queries were not answered in this time.
	measurementRecheck = 2 * time.Second
)

// Prometheus answers the queries of checks with the values of the selected series.
type Prometheus interface {
	Query(ctx context.Context, query string) ([]float64, error)
}

// measurements are the last measurements of the checks of each box, by the names of the checks. A query can take longer than a worker
// of the controller should wait, so it is not sent by a worker. A measurement is kept until the status has it, so that a write that
// fails does not repeat the query.
type measurements struct {
	*reconciler.Memory[map[string]*measurement]

	prometheus Prometheus
	slots      *querySlots
}

func newMeasurements(prometheus Prometheus) *measurements {
	return &measurements{reconciler.NewMemory[map[string]*measurement](), prometheus, newQuerySlots()}
}

// measurement is a query and the answer to it.
type measurement struct {
	id measurementID
	// at is when the query was sent.
	at metav1.Time
	// done is closed when values and err are set.
	done   chan struct{}
	values []float64
	err    error
}

// measurementID tells the measurements of a check apart. It has the results that the measurement follows.
type measurementID struct {
	query              string
	reached, last      int64
	step, measurements int32
}

func idOf(query string, state *modelv1.ModelBoxRolloutCheckStatus) measurementID {
	id := measurementID{query: query, step: state.Step, measurements: state.Successes + state.Failures + state.Inconclusive}
	if state.ReachedAt != nil {
		id.reached = state.ReachedAt.Unix()
	}
	if state.LastMeasuredAt != nil {
		id.last = state.LastMeasuredAt.Unix()
	}
	return id
}

// start returns the next measurement of the check, and whether this call has sent its query.
func (m *measurements) start(ctx context.Context, box types.NamespacedName, query string, state *modelv1.ModelBoxRolloutCheckStatus, now time.Time) (*measurement, bool) {
	id := idOf(query, state)
	known, _ := m.Get(box)
	if last := known[state.Name]; last != nil && last.id == id {
		return last, false
	}
	started := &measurement{id: id, at: startOf(now), done: make(chan struct{})}
	if known == nil {
		known = map[string]*measurement{}
		m.Set(box, known)
	}
	known[state.Name] = started
	go func() {
		defer close(started.done)
		if err := m.slots.do(ctx, box.Namespace, func() { started.values, started.err = m.prometheus.Query(ctx, query) }); err != nil {
			started.err = err
		}
	}()
	return started, true
}

// await waits a short time for the answers to the queries.
func await(ctx context.Context, started []*measurement) {
	if len(started) == 0 {
		return
	}
	timer := time.NewTimer(measurementTimeout)
	defer timer.Stop()
	for _, m := range started {
		select {
		case <-m.done:
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// isDone returns whether the query was answered, or given up.
func (m *measurement) isDone() bool {
	select {
	case <-m.done:
		return true
	default:
		return false
	}
}
