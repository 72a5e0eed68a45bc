// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/boxes"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/load"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/process"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/result"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/runner"
)

// Figures of watches.
const (
	deliveriesPerSecond = "deliveries/s"
	cpuPerDelivery      = "CPU a delivery"
	residentPerWatcher  = "resident a watcher"
)

const (
	// watchedNamespaces have as many watchers and boxes each. Were each write one for all watchers, two cores would have a
	// hundred thousand messages to encrypt every second.
	watchedNamespaces = 20
	boxesOfNamespace  = 10

	writesPerSecond = 100
	// deliveryTimeout is how long the last writes may take to all of their watchers.
	deliveryTimeout = time.Minute
	// maxFrame is more than an event of a box has.
	maxFrame = 64 << 10
	// connecting is how many watchers connect at the same time.
	connecting = 32
)

var watchersScenario = &runner.Scenario{
	Name:  "watchers",
	Shows: fmt.Sprintf("have many clients watch boxes of which %d a second are written", writesPerSecond),
	Notes: []string{
		fmt.Sprintf("Each watcher has a connection of its own and watches one of %d namespaces, so that one in %d of them hears of a write.", watchedNamespaces, watchedNamespaces),
		"A delivery takes from when the write is due until the watcher has read the event, which it does not decode.",
		"The CPU is the CPU of all servers while there are writes, divided by the deliveries.",
		"Resident is by how much the memory of etcd, kube-apiserver and the server grows from one garbage collection before the watchers connect to one after the writes.",
		"Controllers are off.",
	},
	Figures: []result.Figure{
		{Name: deliveriesPerSecond, Unit: result.PerSecond},
		{Name: runner.LatencyP50, Unit: result.Seconds},
		{Name: runner.LatencyP99, Unit: result.Seconds},
		{Name: cpuPerDelivery, Unit: result.Seconds},
		{Name: residentPerWatcher, Unit: result.Bytes},
	},
	Comparisons: []result.Comparison{bestClients},
	Goals:       []result.Goal{atMost("", bestClients, cpuPerDelivery, 0.3)},
	Size:        1000, QuickSize: 150, SizeOf: "watchers",
	Measure: measureWatchers,
}

func measureWatchers(ctx context.Context, r *runner.Run) error {
	if err := boxes.InstallDefinition(ctx, r.Testbed); err != nil {
		return err
	}
	for i := range watchedNamespaces {
		if err := boxes.CreateNamespace(ctx, r.Testbed, watchedNamespace(i)); err != nil {
			return err
		}
	}
	var audiences []*audience
	for _, api := range []boxes.API{boxes.ModelBox, boxes.CRD} {
		for i := range watchedNamespaces {
			if err := fill(ctx, r.Testbed, api, watchedNamespace(i), 0, boxesOfNamespace, nil); err != nil {
				return err
			}
		}
		// The same in all rounds: what is kept of a client is not what is measured.
		clients, err := api.NewClients(r.Testbed.User, r.Size)
		if err != nil {
			return err
		}
		writers, err := api.NewClients(r.Testbed.User, fillClients)
		if err != nil {
			return err
		}
		audiences = append(audiences, &audience{api: api, clients: clients, writers: writers})
	}
	return runner.Interleave(r, audiences, func(round int, a *audience) error {
		if err := a.measure(ctx, r, round); err != nil {
			return fmt.Errorf("%s: %w", a.api.Name, err)
		}
		return nil
	})
}

func watchedNamespace(i int) string { return fmt.Sprintf("watchers-%d", i%watchedNamespaces) }

// audience are the watchers of an API.
type audience struct {
	api boxes.API
	// clients watch, and writers write.
	clients, writers []*boxes.Client

	mu sync.Mutex
	// began is when the writes did that count.
	began   time.Time
	latency *hdrhistogram.Histogram
}

func (a *audience) measure(ctx context.Context, r *runner.Run, round int) error {
	if err := connect(ctx, a.writers, watchedNamespace(0)); err != nil {
		return err
	}
	before, err := a.settledMemory(ctx, r)
	if err != nil {
		return err
	}
	ctx, disperse := context.WithCancel(ctx)
	defer disperse()
	watching, err := a.gather(ctx)
	if err != nil {
		return err
	}
	defer func() {
		disperse()
		_ = watching.Wait()
		for _, client := range a.clients {
			client.Disconnect()
		}
	}()
	writes := writesPerSecond * int(duration(r).Seconds())
	var outcome *load.Outcome
	cpu, err := r.CPU(ctx, func() (err error) {
		a.expect()
		if outcome, err = a.write(ctx, writes); err != nil {
			return err
		}
		return a.awaitDelivered(ctx, a.deliveries(writes))
	})
	if err != nil {
		return err
	}
	after, err := a.settledMemory(ctx, r)
	if err != nil {
		return err
	}
	latency, err := result.EncodeLatency(a.latency)
	if err != nil {
		return err
	}
	deliveries := float64(a.latency.TotalCount())
	r.Record(result.Measurement{
		Case: fmt.Sprintf("%d writes a second", writesPerSecond), Contestant: a.api.Name, Round: round, CPU: cpu, Latency: latency,
		Values: map[string]float64{
			deliveriesPerSecond: deliveries / outcome.Took.Seconds(),
			runner.LatencyP50:   float64(a.latency.ValueAtQuantile(50)) / 1e6,
			runner.LatencyP99:   float64(a.latency.ValueAtQuantile(99)) / 1e6,
			cpuPerDelivery:      process.Total(cpu) / deliveries,
			residentPerWatcher:  (after - before) / float64(len(a.clients)),
		},
	})
	return nil
}

// duration is for how long there are writes.
func duration(r *runner.Run) time.Duration {
	switch {
	case r.Quick:
		return 3 * time.Second
	case r.Full:
		return time.Minute
	default:
		return 10 * time.Second
	}
}

func (a *audience) settledMemory(ctx context.Context, r *runner.Run) (float64, error) {
	if err := r.Testbed.Settle(ctx); err != nil {
		return 0, err
	}
	memory, err := r.Testbed.Memory(ctx)
	if err != nil {
		return 0, err
	}
	return memory.Needed, nil
}

// gather connects the watchers, and returns when all of them watch. They do until ctx is done.
func (a *audience) gather(ctx context.Context) (watching *errgroup.Group, err error) {
	streams := make([]io.ReadCloser, len(a.clients))
	connected, connectCtx := errgroup.WithContext(ctx)
	connected.SetLimit(connecting)
	for i, client := range a.clients {
		connected.Go(func() error {
			if err := connectCtx.Err(); err != nil {
				return err
			}
			stream, err := client.Get().Namespace(watchedNamespace(i)).Resource(boxes.Resource).Param("watch", "true").Stream(ctx)
			if err != nil {
				return fmt.Errorf("watching boxes: %w", err)
			}
			streams[i], err = a.api.Frames(stream)
			return err
		})
	}
	if err := connected.Wait(); err != nil {
		for _, stream := range streams {
			if stream != nil {
				err = errors.Join(err, stream.Close())
			}
		}
		return nil, err
	}
	watching = &errgroup.Group{}
	for _, stream := range streams {
		watching.Go(func() error {
			defer stream.Close()
			return a.read(stream)
		})
	}
	return watching, nil
}

// read reads events until there are no more.
func (a *audience) read(stream io.Reader) error {
	frame := make([]byte, maxFrame)
	for {
		n, err := stream.Read(frame)
		if err != nil {
			return err
		}
		if sent, found := sentAt(frame[:n]); found {
			a.delivered(sent, time.Now())
		}
	}
}

// The annotation by which a watcher knows when a write was due. Its value is found in every encoding.
const (
	sentAnnotation = "bench.model.github.com/sent"
	sentMark       = "sent-at="
	sentEnd        = ";"
)

func sentPatch(at time.Time) []byte {
	return fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"%s%d%s"}}}`, sentAnnotation, sentMark, at.UnixNano(), sentEnd)
}

// sentAt returns when the write of an event was due.
func sentAt(event []byte) (time.Time, bool) {
	_, rest, found := bytes.Cut(event, []byte(sentMark))
	if !found {
		return time.Time{}, false
	}
	digits, _, found := bytes.Cut(rest, []byte(sentEnd))
	if !found {
		return time.Time{}, false
	}
	nanoseconds, err := strconv.ParseInt(string(digits), 10, 64)
	return time.Unix(0, nanoseconds), err == nil
}

// expect forgets all deliveries, including later deliveries of earlier writes.
func (a *audience) expect() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.began, a.latency = time.Now(), result.NewLatency()
}

func (a *audience) delivered(sent, at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.latency == nil || sent.Before(a.began) {
		return
	}
	_ = a.latency.RecordValue(min(max(at.Sub(sent).Microseconds(), 1), a.latency.HighestTrackableValue()))
}

func (a *audience) write(ctx context.Context, writes int) (*load.Outcome, error) {
	began := time.Now()
	outcome, err := load.Paced(ctx, len(a.writers), writes, writesPerSecond, func(ctx context.Context, client, i int) error {
		due := began.Add(time.Duration(i) * time.Second / writesPerSecond)
		box := fmt.Sprintf("box-%d", i/watchedNamespaces%boxesOfNamespace)
		return a.writers[client].Patch(types.MergePatchType).Namespace(watchedNamespace(i)).Resource(boxes.Resource).Name(box).
			Param("fieldManager", fieldManager).Body(sentPatch(due)).Do(ctx).Error()
	})
	if err != nil {
		return nil, fmt.Errorf("writing boxes: %w", err)
	}
	return outcome, nil
}

// deliveries is how many there are of so many writes.
func (a *audience) deliveries(writes int) int64 {
	total := 0
	for watcher := range a.clients {
		// Write i is one of namespace i, as watcher i is.
		total += (writes + watchedNamespaces - 1 - watcher%watchedNamespaces) / watchedNamespaces
	}
	return int64(total)
}

func (a *audience) awaitDelivered(ctx context.Context, want int64) error {
	got := func() int64 {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.latency.TotalCount()
	}
	for deadline := time.Now().Add(deliveryTimeout); got() < want; {
		if time.Now().After(deadline) {
			return fmt.Errorf("%d of %d events are delivered after %s", got(), want, deliveryTimeout)
		}
		select {
		case <-time.After(pollInterval / 10):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
