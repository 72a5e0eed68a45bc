// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/boxes"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/load"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/process"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/result"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/runner"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/testbed"
)

// Figures of a controller that always has something to do.
const (
	changesMade  = "changes/s"
	queueP99     = "queue p99"
	reconcileP50 = "reconcile p50"
	reconcileP99 = "reconcile p99"
	serverCores  = "cores of the server"
	allCores     = "cores of all servers"
	serverHeap   = "heap of the server"
	serverMemory = "resident, the server"
)

// changesWanted is how many there are a second, as long as the machine can do so many.
const changesWanted = 155

// reconcileDuration is the server's metric of how long it looks at a box.
const reconcileDuration = "modelbox_controller_reconcile_duration_seconds"

var steadyScenario = &runner.Scenario{
	Name:  "steady",
	Shows: fmt.Sprintf("change the image of %d boxes a second, of many that have no pods", changesWanted),
	Notes: []string{
		fmt.Sprintf("Each round starts where the last one ended, without a pause. The boxes are spread over %d namespaces.", spreadOver),
		fmt.Sprintf("Changes that are made more slowly than %d a second are so because the machine cannot do more: each of them makes the Deployment roll out, with a new ReplicaSet.", changesWanted),
		"How long a box waits in the queue and how long its reconcile takes is what the server's metrics say. Their quantiles are estimated as Prometheus does: each bucket of the queue is ten times as wide as the one before, with bounds at 10 ms, 100 ms, 1 s and, for the last one, 10 s.",
		"The server has its etcd in it. All servers are that one, the cluster's etcd, kube-apiserver, the controller manager and the scheduler.",
	},
	Testbed: testbed.Options{Controllers: true},
	Figures: []result.Figure{
		{Name: changesMade, Unit: result.PerSecond},
		{Name: queueP99, Unit: result.Seconds},
		{Name: reconcileP50, Unit: result.Seconds},
		{Name: reconcileP99, Unit: result.Seconds},
		{Name: serverCores, Unit: result.Count},
		{Name: allCores, Unit: result.Count},
		{Name: serverHeap, Unit: result.Bytes},
		{Name: serverMemory, Unit: result.Bytes},
	},
	Goals: []result.Goal{
		{Figure: queueP99, Ours: boxes.ModelBox.Name, AtMost: ptr.To(0.1)},
		{Figure: reconcileP99, Ours: boxes.ModelBox.Name, AtMost: ptr.To(0.25)},
		{Figure: serverCores, Ours: boxes.ModelBox.Name, AtMost: ptr.To(1.0)},
	},
	Size: 600, QuickSize: 100, FullSize: 9000, SizeOf: "boxes",
	Measure: measureSteady,
}

func measureSteady(ctx context.Context, r *runner.Run) error {
	namespaces, err := createNamespaces(ctx, r.Testbed, "steady")
	if err != nil {
		return err
	}
	if err := createSettled(ctx, r, boxes.ModelBox, namespaces); err != nil {
		return err
	}
	clients, err := boxes.ModelBox.NewClients(r.Testbed.User, fillClients)
	if err != nil {
		return err
	}
	if err := connect(ctx, clients, namespaces[0]); err != nil {
		return err
	}
	if err := r.Testbed.Settle(ctx); err != nil {
		return err
	}
	s := &steady{Run: r, clients: clients, stored: newBoxes(namespaces, r.Size)}
	before, err := s.observe(ctx)
	if err != nil {
		return err
	}
	for round := range r.Rounds {
		if err := s.change(ctx, round); err != nil {
			return err
		}
		after, err := s.observe(ctx)
		if err != nil {
			return err
		}
		s.record(round, before, after)
		before = after
	}
	return s.awaitCarriedOut(ctx, namespaces)
}

// steady is a run of changes.
type steady struct {
	*runner.Run
	clients []*boxes.Client
	stored  []*modelv1.ModelBox
}

// changes is how many there are in a round. All rounds take 20 seconds together, and 15 times that where there is time, on a
// machine that can do them at their pace.
func (s *steady) changes() int {
	seconds := 20.0 / float64(s.Rounds)
	switch {
	case s.Quick:
		seconds = 2
	case s.Full:
		seconds *= 15
	}
	return max(1, int(changesWanted*seconds))
}

func (s *steady) change(ctx context.Context, round int) error {
	changes := s.changes()
	_, err := load.Paced(ctx, len(s.clients), changes, changesWanted, func(ctx context.Context, client, i int) error {
		number := round*changes + i
		box := s.stored[number%len(s.stored)]
		body := fmt.Sprintf(`{"spec":{"image":"%s-%d"}}`, boxes.Image, number)
		return s.clients[client].Patch(types.MergePatchType).Namespace(box.Namespace).Resource(boxes.Resource).Name(box.Name).
			Param("fieldManager", fieldManager).Body([]byte(body)).Do(ctx).Error()
	})
	if err != nil {
		return fmt.Errorf("changing boxes: %w", err)
	}
	return nil
}

// observation is what is known of the servers at one time.
type observation struct {
	at               time.Time
	usage            process.Usages
	queue, reconcile testbed.Histogram
	heap             float64
}

func (s *steady) observe(ctx context.Context) (*observation, error) {
	metrics, err := s.Testbed.Metrics(ctx, testbed.APIServer)
	if err != nil {
		return nil, err
	}
	usage, err := s.Testbed.Usage()
	if err != nil {
		return nil, err
	}
	return &observation{
		at: time.Now(), usage: usage,
		queue:     metrics.Histogram("workqueue_queue_duration_seconds", map[string]string{"name": "modelbox"}),
		reconcile: metrics.Histogram(reconcileDuration, nil),
		heap:      metrics.Sum("go_memstats_heap_inuse_bytes", nil),
	}, nil
}

func (s *steady) record(round int, before, after *observation) {
	seconds := after.at.Sub(before.at).Seconds()
	cpu := after.usage.CPUSince(before.usage)
	queue, reconcile := after.queue.Since(before.queue), after.reconcile.Since(before.reconcile)
	s.Record(result.Measurement{
		Case: fmt.Sprintf("%d changes a second", changesWanted), Contestant: boxes.ModelBox.Name, Round: round, CPU: cpu,
		Values: map[string]float64{
			changesMade:  float64(s.changes()) / seconds,
			queueP99:     queue.Quantile(0.99),
			reconcileP50: reconcile.Quantile(0.5),
			reconcileP99: reconcile.Quantile(0.99),
			serverCores:  cpu[testbed.APIServer] / seconds,
			allCores:     process.Total(cpu) / seconds,
			serverHeap:   after.heap,
			serverMemory: float64(after.usage[testbed.APIServer].Resident),
		},
	})
}

// awaitCarriedOut returns when every box says that its last change is done.
func (s *steady) awaitCarriedOut(ctx context.Context, namespaces []string) error {
	left := 0
	err := wait.PollUntilContextTimeout(ctx, pollInterval, readyTimeout, true, func(ctx context.Context) (bool, error) {
		left = 0
		for _, namespace := range namespaces {
			list := &modelv1.ModelBoxList{}
			if err := s.clients[0].Get().Namespace(namespace).Resource(boxes.Resource).Do(ctx).Into(list); err != nil {
				return false, fmt.Errorf("listing boxes: %w", err)
			}
			for i := range list.Items {
				if !isReady(&list.Items[i]) {
					left++
				}
			}
		}
		return left == 0, nil
	})
	if err != nil {
		return fmt.Errorf("waiting until the changes are carried out, when they are not for %d boxes: %w", left, err)
	}
	return nil
}
