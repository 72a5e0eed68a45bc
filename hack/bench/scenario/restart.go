// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/boxes"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/operator"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/process"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/result"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/runner"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/testbed"
)

// Figures of a controller that finds everything as it should be.
const (
	untilQuiet    = "until quiet"
	writes        = "writes"
	reads         = "reads"
	controllerCPU = "CPU of the controller"
)

const (
	// resyncPeriod is longer than a restart takes, so that a resync is not taken for a restart.
	resyncPeriod = 15 * time.Second
	// lookedTimeout is how long the server may take to look at every box.
	lookedTimeout = 5 * time.Minute
)

var restartScenario = &runner.Scenario{
	Name:  "restart",
	Shows: "restart a controller, and let it look at everything again, when all boxes are as they should be",
	Notes: []string{
		"A restart begins with the execution of the program, the former one having ended in order, and ends when all servers are quiet for a second.",
		fmt.Sprintf("A resync is a look at all boxes once more, which the server takes every %s here, and by default every ten minutes. Its CPU is all that the server has used since it was quiet. The operator has no resync for ten hours.", resyncPeriod),
		"The controller is the server, with its API and its etcd, or the operator. The CPU of all servers excludes the other controller.",
		"Both sides have their boxes and children in one cluster. The operator looks at its own namespace only, as the server looks at its own children only.",
		"Writes and reads count all clients of boxes, Deployments and Services. A cache is filled over its watch, which is no read.",
	},
	Testbed: testbed.Options{Controllers: true, ResyncPeriod: resyncPeriod},
	Figures: []result.Figure{
		{Name: untilQuiet, Unit: result.Seconds},
		{Name: writes, Unit: result.Count},
		{Name: reads, Unit: result.Count},
		{Name: controllerCPU, Unit: result.Seconds},
		{Name: runner.CPU, Unit: result.Seconds},
	},
	Comparisons: []result.Comparison{againstDefault},
	Goals: []result.Goal{
		{Figure: writes, Ours: boxes.ModelBox.Name, AtMost: ptr.To(0.0)},
		{Figure: controllerCPU, Ours: boxes.ModelBox.Name, AtMost: ptr.To(3.0)},
	},
	Size: 300, QuickSize: 50, FullSize: 5000, SizeOf: "boxes on each side",
	Measure: measureRestarts,
}

// restarted is a controller that is restarted.
type restarted struct {
	*runner.Run
	name, process string
	// others are servers that have nothing to do with it.
	others []string
	// restart starts it again, after it has ended. It returns how long the new process has been there.
	restart func(ctx context.Context) (age time.Duration, err error)
	// stop ends it so that it does not disturb other measurements. It is nil if it does not run, or must continue.
	stop func() error
	// looks returns how often it has looked at a box since its start. Nil: it does not say.
	looks func(ctx context.Context) (float64, error)
}

func measureRestarts(ctx context.Context, r *runner.Run) error {
	if err := boxes.InstallDefinition(ctx, r.Testbed); err != nil {
		return err
	}
	ours, theirs := "restart-modelbox", "restart-crd"
	if err := createBothSettled(ctx, r, ours, theirs); err != nil {
		return err
	}
	return runner.Interleave(r, []*restarted{ourServer(r), theOperator(r, theirs)}, func(round int, c *restarted) error {
		if err := c.measure(ctx, round); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		return nil
	})
}

func ourServer(r *runner.Run) *restarted {
	return &restarted{
		Run: r, name: boxes.ModelBox.Name, process: testbed.APIServer,
		restart: r.Testbed.RestartServer,
		looks: func(ctx context.Context) (float64, error) {
			metrics, err := r.Testbed.Metrics(ctx, testbed.APIServer)
			if err != nil {
				return 0, err
			}
			return metrics.Histogram(reconcileDuration, nil).Count(), nil
		},
	}
}

func theOperator(r *runner.Run, namespace string) *restarted {
	c := &restarted{Run: r, name: operatorByDefault, process: operator.ProcessName, others: []string{testbed.APIServer}}
	c.restart = func(ctx context.Context) (age time.Duration, err error) {
		began := time.Now()
		c.stop, err = operator.Start(ctx, r.Testbed, operator.Options{Namespace: namespace})
		return time.Since(began), err
	}
	return c
}

func (c *restarted) measure(ctx context.Context, round int) (err error) {
	defer func() {
		if stop := c.stop; stop != nil {
			c.stop = nil
			err = errors.Join(err, stop())
		}
	}()
	if err := c.Testbed.Settle(ctx); err != nil {
		return err
	}
	var quiet time.Duration
	m, err := c.observe(ctx, round, "restart", func() error {
		age, err := c.restart(ctx)
		if err != nil {
			return err
		}
		began := time.Now().Add(-age)
		ended, err := c.awaitLooked(ctx, 0)
		quiet = ended.Sub(began)
		return err
	})
	if err != nil {
		return err
	}
	m.Values[untilQuiet] = quiet.Seconds()
	c.Record(*m)
	if c.looks == nil || c.Quick {
		return nil
	}
	before, err := c.looks(ctx)
	if err != nil {
		return err
	}
	m, err = c.observe(ctx, round, "resync", func() error {
		_, err := c.awaitLooked(ctx, before)
		return err
	})
	if err != nil {
		return err
	}
	delete(m.Values, runner.CPU)
	c.Record(*m)
	return nil
}

// observe returns what do takes.
func (c *restarted) observe(ctx context.Context, round int, of string, do func() error) (*result.Measurement, error) {
	requestsBefore, err := countRequests(ctx, c.Testbed)
	if err != nil {
		return nil, err
	}
	before, err := c.Testbed.Usage()
	if err != nil {
		return nil, err
	}
	if err := do(); err != nil {
		return nil, err
	}
	after, err := c.Testbed.Usage()
	if err != nil {
		return nil, err
	}
	requests, err := countRequests(ctx, c.Testbed)
	if err != nil {
		return nil, err
	}
	cpu := after.CPUSince(before)
	for _, other := range c.others {
		delete(cpu, other)
	}
	written, read := requests.since(requestsBefore)
	return &result.Measurement{
		Case: of, Contestant: c.name, Round: round, CPU: cpu,
		Values: map[string]float64{
			writes:        written,
			reads:         read,
			controllerCPU: cpu[c.process],
			runner.CPU:    process.Total(cpu),
		},
	}, nil
}

// awaitLooked waits until the controller has looked at every box, once more than it had then, and the servers are quiet. It returns
// since when they are.
func (c *restarted) awaitLooked(ctx context.Context, before float64) (time.Time, error) {
	looked := 0.0
	for deadline := time.Now().Add(lookedTimeout); ; {
		quiet, err := c.Testbed.AwaitQuiet(ctx, c.others...)
		if err != nil || c.looks == nil {
			return quiet, err
		}
		looks, err := c.looks(ctx)
		if err != nil {
			return time.Time{}, err
		}
		if looked = looks - before; looked >= float64(c.Size) {
			return quiet, nil
		}
		if time.Now().After(deadline) {
			return time.Time{}, fmt.Errorf("%.0f of %d boxes are looked at after %s", looked, c.Size, lookedTimeout)
		}
	}
}
