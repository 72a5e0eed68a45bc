// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"fmt"

	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/boxes"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/result"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/runner"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/testbed"
)

// Figures of stored boxes.
const (
	storedBytes   = "stored a box"
	residentBytes = "resident a box"
)

var storageScenario = &runner.Scenario{
	Name:  "storage",
	Shows: "store many boxes, each with the managed fields of who applied it and of a controller",
	Notes: []string{
		"Every round adds its part of the boxes.",
		"Stored are the keys and values in etcd that are about boxes.",
		"Resident is by how much the memory of etcd, kube-apiserver and the server grows from one garbage collection to the next, together, since the server embeds its etcd. Memory that the Go runtimes keep for later use does not count.",
	},
	Figures: []result.Figure{
		{Name: storedBytes, Unit: result.Bytes},
		{Name: residentBytes, Unit: result.Bytes},
	},
	Comparisons: []result.Comparison{bestClients},
	Goals: []result.Goal{
		atMost("", bestClients, storedBytes, 0.35),
		atMost("", bestClients, residentBytes, 0.25),
		{Figure: residentBytes, Ours: boxes.ModelBox.Name, AtMost: ptr.To[float64](30 << 10)},
	},
	Size: 2000, QuickSize: 250, FullSize: 10000,
	Measure: measureStorage,
}

const storageNamespace = "storage"

// store is where an API keeps its boxes.
type store struct {
	api    boxes.API
	etcd   testbed.Etcd
	prefix string
}

var stores = []store{
	{boxes.ModelBox, testbed.EmbeddedEtcd, "/registry/model.github.com/modelboxes/" + storageNamespace + "/"},
	{boxes.CRD, testbed.ClusterEtcd, "/registry/" + boxes.CRD.GroupVersion.Group + "/modelboxes/" + storageNamespace + "/"},
}

func measureStorage(ctx context.Context, r *runner.Run) error {
	if err := boxes.InstallDefinition(ctx, r.Testbed); err != nil {
		return err
	}
	if err := boxes.CreateNamespace(ctx, r.Testbed, storageNamespace); err != nil {
		return err
	}
	part := max(1, r.Size/r.Rounds)
	return runner.Interleave(r, stores, func(round int, s store) error {
		before, err := s.measure(ctx, r.Testbed)
		if err != nil {
			return err
		}
		if before.keys != int64(round*part) {
			return fmt.Errorf("%s has %d boxes in etcd, want %d", s.api.Name, before.keys, round*part)
		}
		if err := fill(ctx, r.Testbed, s.api, storageNamespace, round*part, part, nil); err != nil {
			return err
		}
		after, err := s.measure(ctx, r.Testbed)
		if err != nil {
			return err
		}
		if got := after.keys - before.keys; got != int64(part) {
			return fmt.Errorf("%s has stored %d boxes in etcd, want %d", s.api.Name, got, part)
		}
		r.Record(result.Measurement{
			Case: "boxes with their status", Contestant: s.api.Name, Round: round,
			Values: map[string]float64{
				storedBytes:   float64(after.bytes-before.bytes) / float64(part),
				residentBytes: (after.resident - before.resident) / float64(part),
			},
		})
		return nil
	})
}

// footprint is what boxes take.
type footprint struct {
	keys, bytes int64
	resident    float64
}

func (s store) measure(ctx context.Context, bed *testbed.Testbed) (*footprint, error) {
	if err := bed.Settle(ctx); err != nil {
		return nil, err
	}
	memory, err := bed.Memory(ctx)
	if err != nil {
		return nil, err
	}
	keys, bytes, err := bed.StoredBytes(ctx, s.etcd, s.prefix)
	if err != nil {
		return nil, err
	}
	return &footprint{keys, bytes, memory.Needed}, nil
}
