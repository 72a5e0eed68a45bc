// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/argorollouts"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/boxes"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/result"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/runner"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/testbed"
)

// Figures of rollouts.
const (
	fewestEndpoints      = "fewest ready endpoints"
	shortOfEndpoints     = "time short of endpoints"
	podsPerApplication   = "pods started"
	writesPerApplication = "writes an application"
	cpuPerApplication    = "CPU an application"
)

const (
	newImage = boxes.Image + "-new"

	// progressDeadline is longer than the server takes to call an image bad. fullProgressDeadline is the default of both sides.
	progressDeadline     = 40 * time.Second
	fullProgressDeadline = 600 * time.Second
	// maxRestarts makes a container that ends at once a failure before the deadline.
	maxRestarts = 1

	// stepPause is how long each step lasts.
	stepPause = 5 * time.Second

	// carefully is the contestant that may lack no pod.
	carefully = argorollouts.Name + ", maxUnavailable 0"

	// rolloutExample is the namespace of the box that shows which pods a box has.
	rolloutExample = "rollout-example"

	// The cases, beside the failures.
	goodRelease = "good release"
	badReleases = "all bad releases"
	abortion    = "abort at 50 %"
)

var (
	againstArgo        = result.Comparison{Ours: boxes.ModelBox.Name, Peer: argorollouts.Name}
	againstCarefulArgo = result.Comparison{Ours: boxes.ModelBox.Name, Peer: carefully}
)

var rolloutScenario = &runner.Scenario{
	Name:  "rollout",
	Shows: fmt.Sprintf("roll new versions of applications of %d pods out in steps, good ones and bad ones, and go back", podsPerBox),
	Notes: []string{
		fmt.Sprintf("A release has steps of 25 %% and 50 %% of the pods, each for %s after it is reached. There is no traffic router on either side: the share of the traffic is the share of the pods.", stepPause),
		fmt.Sprintf("The peer is a Rollout with the pods, the steps, minReadySeconds and the deadline of %s that the box has, with progressDeadlineAbort, and %d workers and no limit of requests. Its defaults let a rollout lack a quarter of the pods. The second peer may lack none.", progressDeadline, ourWorkers),
		"The time of a release is until the Service has the full number of ready endpoints, all of the right version, and no other pod is left: of the new version after a good release, of the stable one after a bad release or an abort. The last application counts.",
		"No packets reach simulated nodes. The measure for the requests that would be lost is the smallest number of ready endpoints of the Service at any moment, and the time with fewer of them than pods; both of the application with the worst figure.",
		"A third of the bad releases has an image that cannot be pulled, a third crashes at once and is restarted with the back-off of the kubelet, and a third never gets ready. The benchmark writes the status of these pods, as a kubelet would.",
		fmt.Sprintf("The box has maxRestarts: %d. Argo Rollouts has no such field: it waits for the deadline, whatever the pods say. The default of the deadline is %s on both sides, which --full has.", maxRestarts, fullProgressDeadline),
		"Writes count all clients of boxes, Rollouts, Deployments, ReplicaSets, their statuses, Services and events but the user who releases or aborts.",
		"CPU is measured for as long on all sides. The process of the other side does not count.",
	},
	Testbed: testbed.Options{Controllers: true, Nodes: podNodes},
	Figures: []result.Figure{
		{Name: runner.Time, Unit: result.Seconds},
		{Name: fewestEndpoints, Unit: result.Count},
		{Name: shortOfEndpoints, Unit: result.Seconds},
		{Name: podsPerApplication, Unit: result.Count},
		{Name: writesPerApplication, Unit: result.Count},
		{Name: cpuPerApplication, Unit: result.Seconds},
	},
	Comparisons: []result.Comparison{againstArgo, againstCarefulArgo},
	Goals: []result.Goal{
		{Figure: shortOfEndpoints, Ours: boxes.ModelBox.Name, AtMost: ptr.To(0.0)},
		atMost("", againstArgo, runner.Time, 1),
		atMost("", againstArgo, podsPerApplication, 1),
		atMost("", againstArgo, writesPerApplication, 1),
		atMost("", againstArgo, cpuPerApplication, 1),
		atMost("", againstCarefulArgo, runner.Time, 1),
		atMost("", againstCarefulArgo, podsPerApplication, 1),
		atMost("", againstCarefulArgo, writesPerApplication, 1),
		atMost("", againstCarefulArgo, cpuPerApplication, 1),
	},
	Size: 12, QuickSize: 3, FullSize: 60, SizeOf: "applications",
	Measure: measureRollouts,
}

// release is a new version of an application.
type release struct {
	// fails says that its pods are held.
	fails bool
	// isManual says that the last step lasts until a user ends it.
	isManual bool
}

// releaser rolls new versions out.
type releaser interface {
	// create creates the applications, and returns when all of their pods are available.
	create(ctx context.Context, stored []*modelv1.ModelBox, of release, deadline time.Duration) error
	release(ctx context.Context, box *modelv1.ModelBox, of release) error
	abort(ctx context.Context, box *modelv1.ModelBox) error
	// remove removes the applications.
	remove(ctx context.Context, namespaces []string) error
}

// rolloutContestant is a releaser that takes part.
type rolloutContestant struct {
	name string
	// other is the process of the other side.
	other string
	releaser
}

func measureRollouts(ctx context.Context, r *runner.Run) (err error) {
	children, err := observeChildren(ctx, r, rolloutExample)
	if err != nil {
		return err
	}
	ours, err := newBoxReleases(r.Testbed)
	if err != nil {
		return err
	}
	stop, err := argorollouts.Start(ctx, r.Testbed, ourWorkers)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	byDefault, err := newRolloutReleases(r.Testbed, children, nil)
	if err != nil {
		return err
	}
	careful, err := newRolloutReleases(r.Testbed, children, ptr.To(intstr.FromInt32(0)))
	if err != nil {
		return err
	}
	contestants := []rolloutContestant{
		{boxes.ModelBox.Name, testbed.ArgoRollouts, ours},
		{argorollouts.Name, testbed.APIServer, byDefault},
		{carefully, testbed.APIServer, careful},
	}
	m := &rolloutMeasurement{Run: r, deadline: progressDeadline}
	if r.Full {
		m.deadline = fullProgressDeadline
	}
	if m.cluster, err = r.Testbed.UserClient(); err != nil {
		return err
	}
	cases := []func(context.Context, rolloutContestant, int, string) error{m.goodRelease, m.badReleases, m.abort}
	turn := 0
	for _, measure := range cases {
		err := runner.Interleave(r, contestants, func(round int, c rolloutContestant) error {
			turn++
			if err := measure(ctx, c, round, fmt.Sprintf("rollout-%d", turn)); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
