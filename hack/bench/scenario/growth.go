// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/dustin/go-humanize"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/boxes"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/load"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/result"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/runner"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/testbed"
)

// Figures of a server with more and more boxes.
const (
	createRate       = "creates/s"
	listTime         = "list of all"
	residentGrowth   = "resident for boxes"
	reconcileLatency = "create to Ready, p50"
	reconcileTail    = "create to Ready, p99"
)

const (
	// createdAtOnce is how many boxes show how fast they are created, createdSingly how many show how soon one is Ready.
	createdAtOnce, createdSingly = 150, 50

	// quickShare is the part of them that shows roughly the same.
	quickShare = 5

	// firstBoxes is how many there were before the memory without boxes is measured.
	firstBoxes = 50

	// linear is the exponent of what grows as the number of boxes does, with some room for how much rounds differ.
	linear = 1.05
)

var growthScenario = &runner.Scenario{
	Name:  "growth",
	Shows: "do the same with more and more boxes that are there already, each with its Deployment and its Service",
	Notes: []string{
		fmt.Sprintf("%q is how fast %d clients create %d boxes while the children of those are made; in a quick run, one in %d of them.", createRate, fillClients, createdAtOnce, quickShare),
		fmt.Sprintf("%q and %q are how long one box takes, of %d, each of which is created when the one before is Ready; in a quick run, of one in %d.", reconcileLatency, reconcileTail, createdSingly, quickShare),
		fmt.Sprintf("%q is by how much the server needs more memory than when a few boxes were there and have gone, right after a garbage collection. Memory that its Go runtime keeps for later use does not count.", residentGrowth),
		"An exponent says how what all boxes together cost grows with their number: to list all of them, to keep them in memory, and to create and reconcile as many. 1 is linear, and below is better. It is the exponent of the power function that comes nearest to the figures of a round.",
	},
	Testbed: testbed.Options{Controllers: true},
	Figures: growthFigures(),
	Goals:   growthGoals(),
	Size:    1000, QuickSize: 150, FullSize: 25000, SizeOf: "boxes at the end",
	Measure: measureGrowth,
}

func growthFigures() []result.Figure {
	figures := []result.Figure{
		{Name: createRate, Unit: result.PerSecond},
		{Name: listTime, Unit: result.Seconds},
		{Name: residentGrowth, Unit: result.Bytes},
		{Name: reconcileLatency, Unit: result.Seconds},
		{Name: reconcileTail, Unit: result.Seconds},
	}
	for _, c := range costs {
		figures = append(figures, result.Figure{Name: c.exponent, Unit: result.Count})
	}
	return figures
}

func growthGoals() []result.Goal {
	var goals []result.Goal
	for _, c := range costs {
		goals = append(goals, result.Goal{Figure: c.exponent, Ours: boxes.ModelBox.Name, AtMost: ptr.To(linear)})
	}
	return goals
}

// growthSizes are the numbers of boxes at which the same is done, up to the last one.
func growthSizes(last int) []int {
	if last <= 1000 {
		return slices.Compact([]int{max(1, last/5), last})
	}
	var sizes []int
	for _, size := range []int{1000, 5000, 10000} {
		if size < last {
			sizes = append(sizes, size)
		}
	}
	return append(sizes, last)
}

func measureGrowth(ctx context.Context, r *runner.Run) error {
	empty, err := memoryWithoutBoxes(ctx, r.Testbed)
	if err != nil {
		return err
	}
	namespaces, err := createNamespaces(ctx, r.Testbed, "growth")
	if err != nil {
		return err
	}
	rounds := make([]growthFit, r.Rounds)
	there := 0
	for _, size := range growthSizes(r.Size) {
		r.Say(fmt.Sprintf("  growing to %d boxes", size))
		if err := grow(ctx, r.Testbed, namespaces, there, size); err != nil {
			return err
		}
		there = size
		for round := range r.Rounds {
			values, err := measureSize(ctx, r, namespaces, round, size, empty)
			if err != nil {
				return fmt.Errorf("round %d of %d boxes: %w", round+1, size, err)
			}
			rounds[round].add(float64(size), values)
			r.Record(result.Measurement{
				Case: humanize.Comma(int64(size)) + " boxes", Contestant: boxes.ModelBox.Name, Round: round, Size: size, Values: values,
			})
		}
	}
	for round, fit := range rounds {
		r.Record(result.Measurement{Case: "all sizes", Contestant: boxes.ModelBox.Name, Round: round, Values: fit.exponents()})
	}
	return nil
}

// grow creates boxes until there are so many, and returns when all are Ready.
func grow(ctx context.Context, bed *testbed.Testbed, namespaces []string, from, to int) error {
	ready, err := awaitReady(ctx, bed, boxes.ModelBox, namespaces, to)
	if err != nil {
		return err
	}
	if err := createBoxes(ctx, bed, boxes.ModelBox, newBoxes(namespaces, to)[from:]); err != nil {
		return err
	}
	return <-ready
}

// memoryWithoutBoxes is what the server needs when it has none, but has had some: what it has set up for the first ones is not of
// those that follow.
func memoryWithoutBoxes(ctx context.Context, bed *testbed.Testbed) (float64, error) {
	const namespace = "growth-first"
	if err := boxes.CreateNamespace(ctx, bed, namespace); err != nil {
		return 0, err
	}
	if _, err := measureCreates(ctx, bed, namespace, firstBoxes); err != nil {
		return 0, err
	}
	if err := removeAll(ctx, bed, boxes.ModelBox, []string{namespace}); err != nil {
		return 0, err
	}
	return neededMemory(ctx, bed)
}

// neededMemory is what the server needs when it has nothing to do, in bytes.
func neededMemory(ctx context.Context, bed *testbed.Testbed) (float64, error) {
	if err := bed.Settle(ctx); err != nil {
		return 0, err
	}
	memory, err := bed.MemoryOf(ctx, testbed.APIServer)
	if err != nil {
		return 0, err
	}
	return memory.Needed, nil
}

// measureSize measures each figure where there are so many boxes in the namespaces, and leaves them as they were.
func measureSize(ctx context.Context, r *runner.Run, namespaces []string, round, size int, empty float64) (map[string]float64, error) {
	memory, err := neededMemory(ctx, r.Testbed)
	if err != nil {
		return nil, err
	}
	listed, err := measureListOfAll(ctx, r.Testbed, namespaces, size)
	if err != nil {
		return nil, err
	}
	beside := fmt.Sprintf("growth-%d-%d", size, round)
	if err := boxes.CreateNamespace(ctx, r.Testbed, beside); err != nil {
		return nil, err
	}
	together, singly := createdAtOnce, createdSingly
	if r.Quick {
		together, singly = together/quickShare, singly/quickShare
	}
	rate, err := measureCreates(ctx, r.Testbed, beside, together)
	if err != nil {
		return nil, err
	}
	latency, err := measureReconciles(ctx, r.Testbed, beside, singly)
	if err != nil {
		return nil, err
	}
	if err := removeAll(ctx, r.Testbed, boxes.ModelBox, []string{beside}); err != nil {
		return nil, err
	}
	return map[string]float64{
		createRate:       rate,
		listTime:         listed.Seconds(),
		residentGrowth:   memory - empty,
		reconcileLatency: float64(latency.ValueAtQuantile(50)) / 1e6,
		reconcileTail:    float64(latency.ValueAtQuantile(99)) / 1e6,
	}, nil
}

// measureListOfAll returns how long it takes until a client has decoded all boxes that there are.
func measureListOfAll(ctx context.Context, bed *testbed.Testbed, namespaces []string, want int) (time.Duration, error) {
	client, err := boxes.ModelBox.NewClient(bed.User)
	if err != nil {
		return 0, err
	}
	if err := connect(ctx, []*boxes.Client{client}, namespaces[0]); err != nil {
		return 0, err
	}
	list := &modelv1.ModelBoxList{}
	began := time.Now()
	if err := client.Get().Resource(boxes.Resource).Do(ctx).Into(list); err != nil {
		return 0, fmt.Errorf("listing boxes: %w", err)
	}
	took := time.Since(began)
	got := 0
	for i := range list.Items {
		if slices.Contains(namespaces, list.Items[i].Namespace) {
			got++
		}
	}
	if got != want {
		return 0, fmt.Errorf("%d boxes are listed, want %d", got, want)
	}
	return took, nil
}

// measureCreates returns how many boxes are created a second, and returns when their children are there.
func measureCreates(ctx context.Context, bed *testbed.Testbed, namespace string, count int) (float64, error) {
	ready, err := awaitReady(ctx, bed, boxes.ModelBox, []string{namespace}, count)
	if err != nil {
		return 0, err
	}
	clients, err := boxes.ModelBox.NewClients(bed.User, fillClients)
	if err != nil {
		return 0, err
	}
	if err := connect(ctx, clients, namespace); err != nil {
		return 0, err
	}
	outcome, err := load.Run(ctx, fillClients, count, func(ctx context.Context, client, i int) error {
		box := boxes.New(namespace, fmt.Sprintf("at-once-%d", i))
		return clients[client].Post().Namespace(namespace).Resource(boxes.Resource).Body(box).Do(ctx).Error()
	})
	if err != nil {
		return 0, fmt.Errorf("creating boxes: %w", err)
	}
	return float64(count) / outcome.Took.Seconds(), <-ready
}

// measureReconciles returns how long it takes from the request for a box until it is Ready, one after the other.
func measureReconciles(ctx context.Context, bed *testbed.Testbed, namespace string, count int) (*hdrhistogram.Histogram, error) {
	client, err := boxes.ModelBox.NewClient(bed.User)
	if err != nil {
		return nil, err
	}
	became := make(chan types.NamespacedName, count)
	isSingle := func(box *modelv1.ModelBox) bool { return strings.HasPrefix(box.Name, "single-") && isReady(box) }
	done, err := await(ctx, func(ctx context.Context) (watch.Interface, error) {
		return client.Get().Namespace(namespace).Resource(boxes.Resource).Param("watch", "true").Watch(ctx)
	}, []string{namespace}, count, isSingle, func(key types.NamespacedName) { became <- key })
	if err != nil {
		return nil, err
	}
	outcome, err := load.Run(ctx, 1, count, func(ctx context.Context, _, i int) error {
		box := boxes.New(namespace, fmt.Sprintf("single-%d", i))
		if err := client.Post().Namespace(namespace).Resource(boxes.Resource).Body(box).Do(ctx).Error(); err != nil {
			return fmt.Errorf("creating a box: %w", err)
		}
		select {
		case <-became:
			return nil
		case <-time.After(readyTimeout):
			return fmt.Errorf("%s is not Ready after %s", box.Name, readyTimeout)
		}
	})
	if err != nil {
		return nil, err
	}
	return outcome.Latency, <-done
}
