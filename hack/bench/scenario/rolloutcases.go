// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/argorollouts"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/boxes"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/load"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/process"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/result"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/runner"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/testbed"
)

// For how long CPU is measured. Each is longer than any contestant takes.
const (
	goodWindow  = 45 * time.Second
	abortWindow = 20 * time.Second
	// afterDeadline is the part of the window of bad releases after their deadline.
	afterDeadline = 20 * time.Second
)

// rolloutMeasurement measures the cases of rollouts.
type rolloutMeasurement struct {
	*runner.Run
	cluster  kubernetes.Interface
	deadline time.Duration
}

// stage is the applications of one turn.
type stage struct {
	stored  []*modelv1.ModelBox
	serving *serving
}

// turn creates applications, measures them, and removes them.
func (m *rolloutMeasurement) turn(ctx context.Context, c rolloutContestant, name string, of release, measure func(context.Context, *stage) error) error {
	watchCtx, stopWatching := context.WithCancel(ctx)
	defer stopWatching()
	namespaces, err := createNamespaces(ctx, m.Testbed, name)
	if err != nil {
		return err
	}
	s := &stage{stored: newBoxes(namespaces, m.Size)}
	for _, box := range s.stored {
		box.Spec.Replicas = ptr.To[int32](podsPerBox)
	}
	if s.serving, err = watchServing(watchCtx, m.Testbed, s.stored); err != nil {
		return err
	}
	if err := c.create(ctx, s.stored, of, m.deadline); err != nil {
		return err
	}
	err = s.serving.await(ctx, "have their first pods", func(a *application) bool {
		now := a.census()
		return now.isOnly(boxes.Image, podsPerBox)
	})
	if err != nil {
		return err
	}
	if err := measure(ctx, s); err != nil {
		return err
	}
	stopWatching()
	if err := c.remove(ctx, namespaces); err != nil {
		return err
	}
	return removePods(ctx, m.Testbed, namespaces)
}

// goodRelease measures a release whose pods get ready.
func (m *rolloutMeasurement) goodRelease(ctx context.Context, c rolloutContestant, round int, name string) error {
	return m.turn(ctx, c, name, release{}, func(ctx context.Context, s *stage) error {
		cost, err := m.disrupt(ctx, c, s, newImage, goodWindow, func(ctx context.Context, box *modelv1.ModelBox) error {
			return c.release(ctx, box, release{})
		})
		if err != nil {
			return err
		}
		m.record(goodRelease, c, round, s.outcomes(everyApplication), cost)
		return nil
	})
}

// badReleases measures releases whose pods fail, in each way at the same time.
func (m *rolloutMeasurement) badReleases(ctx context.Context, c rolloutContestant, round int, name string) error {
	bad := release{fails: true}
	return m.turn(ctx, c, name, bad, func(ctx context.Context, s *stage) error {
		kubelet := &failingPods{
			serving: s.serving, cluster: m.cluster, failures: map[types.NamespacedName]failure{},
			first: map[types.UID]time.Time{}, restarts: map[types.UID]int32{},
		}
		for i, box := range s.stored {
			kubelet.failures[keyOf(box)] = failures[i%len(failures)]
		}
		playing, playCtx := errgroup.WithContext(ctx)
		playCtx, stopPlaying := context.WithCancel(playCtx)
		defer stopPlaying()
		playing.Go(func() error { return kubelet.run(playCtx) })
		cost, err := m.disrupt(ctx, c, s, boxes.Image, m.deadline+afterDeadline, func(ctx context.Context, box *modelv1.ModelBox) error {
			return c.release(ctx, box, bad)
		})
		if err != nil {
			return err
		}
		stopPlaying()
		if err := playing.Wait(); err != nil {
			return err
		}
		for i, failure := range failures {
			m.record(failure.name, c, round, s.outcomes(func(application int) bool { return application%len(failures) == i }), nil)
		}
		m.record(badReleases, c, round, s.outcomes(everyApplication), cost)
		return nil
	})
}

// abort measures how a release is undone that a user aborts when it has half of the pods.
func (m *rolloutMeasurement) abort(ctx context.Context, c rolloutContestant, round int, name string) error {
	manual := release{isManual: true}
	return m.turn(ctx, c, name, manual, func(ctx context.Context, s *stage) error {
		if err := s.each(ctx, func(ctx context.Context, box *modelv1.ModelBox) error { return c.release(ctx, box, manual) }); err != nil {
			return fmt.Errorf("releasing: %w", err)
		}
		err := s.serving.await(ctx, "are released by half", func(a *application) bool {
			now := a.census()
			return now.ready[newImage] == podsPerBox/2 && now.ready[boxes.Image] == podsPerBox/2 && now.pods[boxes.Image] == podsPerBox/2
		})
		if err != nil {
			return err
		}
		cost, err := m.disrupt(ctx, c, s, boxes.Image, abortWindow, c.abort)
		if err != nil {
			return err
		}
		m.record(abortion, c, round, s.outcomes(everyApplication), cost)
		return nil
	})
}

func keyOf(box *modelv1.ModelBox) types.NamespacedName {
	return types.NamespacedName{Namespace: box.Namespace, Name: box.Name}
}

func everyApplication(int) bool { return true }

// each does something to all applications.
func (s *stage) each(ctx context.Context, do func(context.Context, *modelv1.ModelBox) error) error {
	_, err := load.Run(ctx, fillClients, len(s.stored), func(ctx context.Context, _, i int) error { return do(ctx, s.stored[i]) })
	return err
}

// outcomes returns the outcomes of some applications.
func (s *stage) outcomes(include func(application int) bool) []outcome {
	var outcomes []outcome
	for i, box := range s.stored {
		if include(i) {
			outcomes = append(outcomes, s.serving.outcome(keyOf(box)))
		}
	}
	return outcomes
}

// cost is what a case has taken of the servers.
type cost struct {
	writes float64
	cpu    map[string]float64
}

// disrupt does something to all applications, one write each, and returns when only the pods of the image are left and the window is
// over.
func (m *rolloutMeasurement) disrupt(ctx context.Context, c rolloutContestant, s *stage, image string, window time.Duration, do func(context.Context, *modelv1.ModelBox) error) (*cost, error) {
	var before requestCount
	cpu, err := m.CPU(ctx, func() (err error) {
		if before, err = countRolloutRequests(ctx, m.Testbed); err != nil {
			return err
		}
		end := time.Now().Add(window)
		err = s.each(ctx, func(ctx context.Context, box *modelv1.ModelBox) error {
			s.serving.disrupt(keyOf(box), image, podsPerBox)
			return do(ctx, box)
		})
		if err != nil {
			return err
		}
		select {
		case <-time.After(time.Until(end)):
		case <-ctx.Done():
			return ctx.Err()
		}
		return s.serving.await(ctx, "have the right pods only", func(a *application) bool { return a.disruption.isOver() })
	})
	if err != nil {
		return nil, err
	}
	after, err := countRolloutRequests(ctx, m.Testbed)
	if err != nil {
		return nil, err
	}
	delete(cpu, c.other)
	writes, _ := after.since(before)
	return &cost{writes - float64(len(s.stored)), cpu}, nil
}

// record records what a case has done to applications. The cost is nil where it is not known of this case alone.
func (m *rolloutMeasurement) record(of string, c rolloutContestant, round int, outcomes []outcome, cost *cost) {
	if len(outcomes) == 0 {
		return
	}
	took, short, fewest, started := time.Duration(0), time.Duration(0), podsPerBox, 0
	for _, o := range outcomes {
		took, short, fewest, started = max(took, o.took), max(short, o.short), min(fewest, o.fewest), started+o.started
	}
	perApplication := func(value float64) float64 { return value / float64(len(outcomes)) }
	measurement := result.Measurement{
		Case: of, Contestant: c.name, Round: round,
		Values: map[string]float64{
			runner.Time:        took.Seconds(),
			fewestEndpoints:    float64(fewest),
			shortOfEndpoints:   short.Seconds(),
			podsPerApplication: perApplication(float64(started)),
		},
	}
	if cost != nil {
		measurement.CPU = cost.cpu
		measurement.Values[writesPerApplication] = perApplication(cost.writes)
		measurement.Values[cpuPerApplication] = perApplication(process.Total(cost.cpu))
	}
	m.Record(measurement)
}

// countRolloutRequests counts the requests of all that a rollout is about, but of pods.
func countRolloutRequests(ctx context.Context, bed *testbed.Testbed) (requestCount, error) {
	kind := func(group, resource string, subresources ...string) []map[string]string {
		var kinds []map[string]string
		for _, subresource := range append(subresources, "") {
			kinds = append(kinds, map[string]string{"group": group, "resource": resource, "subresource": subresource})
		}
		return kinds
	}
	var cluster []map[string]string
	for _, kinds := range [][]map[string]string{
		kind(argorollouts.Resource.Group, argorollouts.Resource.Resource, "status"),
		kind("apps", "deployments", "status", "scale"), kind("apps", "replicasets", "status", "scale"),
		kind("", "services"), kind("", "events"), kind("events.k8s.io", "events"),
	} {
		cluster = append(cluster, kinds...)
	}
	return countRequestsOf(ctx, bed, map[string][]map[string]string{
		testbed.APIServer:     kind(boxes.ModelBox.GroupVersion.Group, boxes.Resource, "status", "abort"),
		testbed.KubeAPIServer: cluster,
	})
}
