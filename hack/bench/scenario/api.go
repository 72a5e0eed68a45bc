// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dustin/go-humanize/english"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/boxes"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/load"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/result"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/runner"
)

var apiScenario = &runner.Scenario{
	Name:  "api",
	Shows: "create, update, patch, apply and get boxes one by one, through kube-apiserver",
	Notes: []string{
		"Requests are made before the clock runs and answers are read and not decoded: it is the servers that are measured.",
		"Each client has a connection of its own and is a service account, whose permission is asked for.",
		"Controllers are off: nothing is done about the boxes but to store them.",
	},
	Figures: []result.Figure{
		{Name: runner.RequestsPerSecond, Unit: result.PerSecond},
		{Name: runner.LatencyP50, Unit: result.Seconds},
		{Name: runner.LatencyP99, Unit: result.Seconds},
		{Name: runner.CPUPerRequest, Unit: result.Seconds},
	},
	Comparisons: []result.Comparison{bestClients, sameEncoding},
	Goals: []result.Goal{
		atLeast("create", bestClients, runner.RequestsPerSecond, 2),
		atLeast("patch", bestClients, runner.RequestsPerSecond, 2),
		atLeast("apply", bestClients, runner.RequestsPerSecond, 2),
		atLeast("get", bestClients, runner.RequestsPerSecond, 1.2),
		atMost("", bestClients, runner.CPUPerRequest, 0.4),
	},
	Size: 200, QuickSize: 80, FullSize: 1200,
	Measure: measureAPI,
}

const (
	fieldManager = "bench"

	// usualClients is how many clients show what the encoding does.
	usualClients = 16
)

// operation is one kind of request for each of the boxes.
type operation struct {
	name string
	// request returns the request for a box as it is stored, and as it is yet to be created for those that create.
	request func(api boxes.API, box *modelv1.ModelBox) (*request, error)
}

// request is all of a request that depends on the box.
type request struct {
	verb, name, contentType string
	body                    []byte
}

var operations = []operation{
	{"create", func(api boxes.API, box *modelv1.ModelBox) (*request, error) {
		body, err := api.Encode(box)
		return &request{"POST", "", api.MediaType, body}, err
	}},
	{"update", func(api boxes.API, box *modelv1.ModelBox) (*request, error) {
		box.Spec.Image = boxes.Image + "-updated"
		box.ManagedFields = nil
		body, err := api.Encode(box)
		return &request{"PUT", box.Name, api.MediaType, body}, err
	}},
	{"patch", func(_ boxes.API, box *modelv1.ModelBox) (*request, error) {
		body := fmt.Sprintf(`{"spec":{"image":%q}}`, boxes.Image+"-patched")
		return &request{"PATCH", box.Name, string(types.MergePatchType), []byte(body)}, nil
	}},
	{"apply", func(api boxes.API, box *modelv1.ModelBox) (*request, error) {
		applied := boxes.New(box.Namespace, box.Name)
		applied.Spec.Image = boxes.Image + "-applied"
		body, err := api.EncodeJSON(applied)
		return &request{"PATCH", box.Name, string(types.ApplyYAMLPatchType), body}, err
	}},
	{"get", func(_ boxes.API, box *modelv1.ModelBox) (*request, error) {
		return &request{"GET", box.Name, "", nil}, nil
	}},
}

func measureAPI(ctx context.Context, r *runner.Run) error {
	if err := boxes.InstallDefinition(ctx, r.Testbed); err != nil {
		return err
	}
	clientCounts := []int{1, usualClients, 64}
	if r.Quick {
		clientCounts = []int{usualClients}
	}
	for _, clients := range clientCounts {
		contestants := []boxes.API{boxes.ModelBox, boxes.CRD}
		if clients == usualClients && !r.Quick || r.Full {
			contestants = append(contestants, boxes.ModelBoxJSON)
		}
		a := &apiRun{Run: r, clients: clients, total: r.Size}
		if clients == 1 {
			a.total = max(1, r.Size/4) // takes as long
		}
		// A round of a contestant is a life of its boxes, from creation to deletion.
		err := runner.Interleave(r, contestants, func(round int, api boxes.API) error { return a.live(ctx, round, api) })
		if err != nil {
			return fmt.Errorf("%d clients: %w", clients, err)
		}
	}
	return nil
}

// apiRun is the part of a run with so many clients.
type apiRun struct {
	*runner.Run
	clients, total int
}

// live measures each operation, for the same boxes.
func (a *apiRun) live(ctx context.Context, round int, api boxes.API) error {
	clients, err := api.NewClients(a.Testbed.User, a.clients)
	if err != nil {
		return err
	}
	namespace := fmt.Sprintf("api-%s-%d-%d", strings.ToLower(strings.NewReplacer(", ", "-").Replace(api.Name)), a.clients, round)
	if err := boxes.CreateNamespace(ctx, a.Testbed, namespace); err != nil {
		return err
	}
	if err := connect(ctx, clients, namespace); err != nil {
		return err
	}
	stored := make([]modelv1.ModelBox, a.total)
	for i := range stored {
		stored[i] = *boxes.New(namespace, fmt.Sprintf("box-%d", i))
	}
	for _, operation := range operations {
		if err := a.measure(ctx, round, api, clients, operation, stored); err != nil {
			return fmt.Errorf("%s, %s: %w", api.Name, operation.name, err)
		}
		list := &modelv1.ModelBoxList{}
		if err := clients[0].Get().Namespace(namespace).Resource(boxes.Resource).Do(ctx).Into(list); err != nil {
			return fmt.Errorf("listing boxes: %w", err)
		}
		if stored = list.Items; len(stored) != a.total {
			return fmt.Errorf("%s, %s: there are %d boxes, want %d", api.Name, operation.name, len(stored), a.total)
		}
	}
	if err := clients[0].Delete().Namespace(namespace).Resource(boxes.Resource).Do(ctx).Error(); err != nil {
		return fmt.Errorf("deleting boxes: %w", err)
	}
	return nil
}

func (a *apiRun) measure(ctx context.Context, round int, api boxes.API, clients []*boxes.Client, operation operation, stored []modelv1.ModelBox) error {
	requests := make([]*request, 0, len(stored))
	for i := range stored {
		request, err := operation.request(api, &stored[i])
		if err != nil {
			return err
		}
		requests = append(requests, request)
	}
	namespace := stored[0].Namespace
	var outcome *load.Outcome
	cpu, err := a.CPU(ctx, func() (err error) {
		outcome, err = load.Run(ctx, len(clients), len(requests), func(ctx context.Context, client, i int) error {
			return send(ctx, clients[client], namespace, requests[i])
		})
		return err
	})
	if err != nil {
		return err
	}
	of := fmt.Sprintf("%s, %s", operation.name, english.Plural(a.clients, "client", ""))
	measurement, err := runner.Requests(of, api.Name, round, len(requests), outcome, cpu)
	if err != nil {
		return err
	}
	a.Record(measurement)
	return nil
}

// connect lets each client find its way before it counts.
func connect(ctx context.Context, clients []*boxes.Client, namespace string) error {
	for _, client := range clients {
		if err := client.Get().Namespace(namespace).Resource(boxes.Resource).Param("limit", "1").Do(ctx).Error(); err != nil {
			return fmt.Errorf("connecting: %w", err)
		}
	}
	return nil
}

func send(ctx context.Context, client *boxes.Client, namespace string, r *request) error {
	sent := client.Verb(r.verb).Namespace(namespace).Resource(boxes.Resource).Param("fieldManager", fieldManager)
	if r.name != "" {
		sent = sent.Name(r.name)
	}
	if r.body != nil {
		sent = sent.SetHeader("Content-Type", r.contentType).Body(r.body)
	}
	if r.contentType == string(types.ApplyYAMLPatchType) {
		sent = sent.Param("force", "true")
	}
	_, err := sent.DoRaw(ctx)
	return err
}
