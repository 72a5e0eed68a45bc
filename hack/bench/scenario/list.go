// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/rest"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/boxes"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/process"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/result"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/runner"
)

var listScenario = &runner.Scenario{
	Name:  "list",
	Shows: "list many boxes: all at once, in pages, and one in a hundred by a field selector",
	Notes: []string{
		"The time ends when the client has decoded every box into Go values.",
		"Received bytes are counted on the connection. They are compressed, as clients ask for by default. Clients in the same network are often configured without compression.",
		"The peak memory is by how much the memory of etcd, kube-apiserver and the server grows at most, right after a garbage collection. Memory that their Go runtimes have kept from before makes it less; the allocations are the same every time.",
	},
	Figures: []result.Figure{
		{Name: runner.Time, Unit: result.Seconds},
		{Name: runner.Received, Unit: result.Bytes},
		{Name: runner.CPU, Unit: result.Seconds},
		{Name: runner.PeakMemory, Unit: result.Bytes},
		{Name: runner.Allocated, Unit: result.Bytes},
	},
	Comparisons: []result.Comparison{bestClients, sameEncoding},
	Goals: []result.Goal{
		atMost("all", bestClients, runner.Time, 1.0/12),
		atMost("all", sameEncoding, runner.Time, 1.0/2),
		atMost("all", bestClients, runner.PeakMemory, 0.25),
		atMost("all", sameEncoding, runner.PeakMemory, 0.25),
	},
	Size: 1500, QuickSize: 200, FullSize: 25000,
	Measure: measureLists,
}

const (
	listNamespace = "list"

	pageSize = 500
	// One box in so many has the image that is selected.
	selectedOf    = 100
	selectedImage = boxes.Image + "-selected"
)

// listing is one way to list boxes.
type listing struct {
	name          string
	uncompressed  bool
	limit         int
	fieldSelector string
	// want is how many boxes there are of so many.
	want func(size int) int
}

var listings = []listing{
	{name: "all", want: everyBox},
	{name: "all, uncompressed", uncompressed: true, want: everyBox},
	{name: fmt.Sprintf("pages of %d", pageSize), limit: pageSize, want: everyBox},
	{name: "field-selected", fieldSelector: "spec.image=" + selectedImage, want: func(size int) int { return (size + selectedOf - 1) / selectedOf }},
}

func everyBox(size int) int { return size }

func measureLists(ctx context.Context, r *runner.Run) error {
	if err := boxes.InstallDefinition(ctx, r.Testbed); err != nil {
		return err
	}
	if err := boxes.CreateNamespace(ctx, r.Testbed, listNamespace); err != nil {
		return err
	}
	for _, api := range []boxes.API{boxes.ModelBox, boxes.CRD} {
		r.Say(fmt.Sprintf("  storing %d boxes in %s", r.Size, api.Name))
		err := fill(ctx, r.Testbed, api, listNamespace, 0, r.Size, func(i int, box *modelv1.ModelBox) {
			if i%selectedOf == 0 {
				box.Spec.Image = selectedImage
			}
		})
		if err != nil {
			return err
		}
	}
	for _, listing := range listings {
		if listing.limit >= r.Size {
			continue // the first page has everything
		}
		contestants := []boxes.API{boxes.ModelBox, boxes.CRD, boxes.ModelBoxJSON}
		err := runner.Interleave(r, contestants, func(round int, api boxes.API) error { return measureList(ctx, r, round, api, listing) })
		if err != nil {
			return fmt.Errorf("%s: %w", listing.name, err)
		}
	}
	return nil
}

func measureList(ctx context.Context, r *runner.Run, round int, api boxes.API, how listing) error {
	config := rest.CopyConfig(r.Testbed.User)
	config.DisableCompression = how.uncompressed
	client, err := api.NewClient(config)
	if err != nil {
		return err
	}
	// Connections are there already when a client lists.
	if err := client.Get().Resource(boxes.Resource).Param("limit", "1").Do(ctx).Error(); err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	var took time.Duration
	var received int64
	var peak float64
	memoryBefore, err := r.Testbed.Memory(ctx)
	if err != nil {
		return err
	}
	cpu, err := r.CPU(ctx, func() (err error) {
		peak, err = r.PeakMemory(func() error {
			began, before := time.Now(), client.Received()
			got, err := how.list(ctx, client)
			took, received = time.Since(began), client.Received()-before
			if want := how.want(r.Size); err == nil && got != want {
				return fmt.Errorf("%s lists %d boxes, want %d", api.Name, got, want)
			}
			return err
		})
		return err
	})
	if err != nil {
		return err
	}
	memory, err := r.Testbed.Memory(ctx)
	if err != nil {
		return err
	}
	r.Record(result.Measurement{
		Case: how.name, Contestant: api.Name, Round: round, CPU: cpu,
		Values: map[string]float64{
			runner.Time:       took.Seconds(),
			runner.Received:   float64(received),
			runner.CPU:        process.Total(cpu),
			runner.PeakMemory: peak,
			runner.Allocated:  memory.Allocated - memoryBefore.Allocated,
		},
	})
	return nil
}

// list returns how many boxes it gets.
func (l listing) list(ctx context.Context, client *boxes.Client) (int, error) {
	got := 0
	for next := ""; ; {
		request := client.Get().Namespace(listNamespace).Resource(boxes.Resource)
		if l.limit > 0 {
			request = request.Param("limit", fmt.Sprint(l.limit))
		}
		if l.fieldSelector != "" {
			request = request.Param("fieldSelector", l.fieldSelector)
		}
		if next != "" {
			request = request.Param("continue", next)
		}
		list := &modelv1.ModelBoxList{}
		if err := request.Do(ctx).Into(list); err != nil {
			return got, fmt.Errorf("listing boxes: %w", err)
		}
		got += len(list.Items)
		if next = list.Continue; next == "" {
			return got, nil
		}
	}
}
