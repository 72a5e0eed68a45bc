// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"fmt"
	"os"

	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/boxes"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/result"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/runner"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/testbed"
)

// Figures of a server.
const (
	startTime    = "start"
	residentIdle = "resident, idle"
	programSize  = "program"
)

const (
	withoutBoxes = "no boxes"
	withBoxes    = "with boxes"
)

var startScenario = &runner.Scenario{
	Name:  "start",
	Shows: "start the server with the etcd that it embeds, without boxes and with many",
	Notes: []string{
		"The start takes from the execution of the program until it says that it is ready, after one that was stopped in order.",
		"Controllers are off.",
	},
	Figures: []result.Figure{
		{Name: startTime, Unit: result.Seconds},
		{Name: residentIdle, Unit: result.Bytes},
		{Name: programSize, Unit: result.Bytes},
	},
	Goals: []result.Goal{
		{Case: withoutBoxes, Figure: startTime, Ours: boxes.ModelBox.Name, AtMost: ptr.To(0.3)},
		{Case: withBoxes, Figure: startTime, Ours: boxes.ModelBox.Name, AtMost: ptr.To(1.5)},
		{Case: withoutBoxes, Figure: residentIdle, Ours: boxes.ModelBox.Name, AtMost: ptr.To[float64](110 << 20)},
		{Case: withoutBoxes, Figure: programSize, Ours: boxes.ModelBox.Name, AtMost: ptr.To[float64](60e6)},
	},
	Size: 10000, QuickSize: 300,
	Measure: measureStarts,
}

func measureStarts(ctx context.Context, r *runner.Run) error {
	if err := measureStart(ctx, r, withoutBoxes); err != nil {
		return err
	}
	const namespace = "start"
	if err := boxes.CreateNamespace(ctx, r.Testbed, namespace); err != nil {
		return err
	}
	r.Say(fmt.Sprintf("  storing %d boxes", r.Size))
	if err := fill(ctx, r.Testbed, boxes.ModelBox, namespace, 0, r.Size, nil); err != nil {
		return err
	}
	return measureStart(ctx, r, withBoxes)
}

func measureStart(ctx context.Context, r *runner.Run, of string) error {
	for round := range r.Rounds {
		took, err := r.Testbed.RestartServer(ctx)
		if err != nil {
			return err
		}
		if err := r.Testbed.AwaitIdle(ctx); err != nil {
			return err
		}
		usage, err := r.Testbed.StoreUsage()
		if err != nil {
			return err
		}
		program, err := os.Stat(r.Testbed.Programs.Path(testbed.APIServer))
		if err != nil {
			return fmt.Errorf("looking for the program: %w", err)
		}
		r.Record(result.Measurement{
			Case: of, Contestant: boxes.ModelBox.Name, Round: round,
			Values: map[string]float64{
				startTime:    took.Seconds(),
				residentIdle: float64(usage[testbed.APIServer].Resident),
				programSize:  float64(program.Size()),
			},
		})
	}
	return nil
}
