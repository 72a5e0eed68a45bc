// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	appsclient "k8s.io/client-go/kubernetes/typed/apps/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/boxes"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/load"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/operator"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/process"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/result"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/runner"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/testbed"
)

// Figures of children.
const (
	writesPerChild = "writes a child"
	cpuPerChild    = "CPU a child"
)

const (
	// driftedAtOnce is how many children are no longer as their boxes say.
	driftedAtOnce = 500
	// restoreTimeout is how long all of them may stay so.
	restoreTimeout = 5 * time.Minute
)

var driftScenario = &runner.Scenario{
	Name:  "drift",
	Shows: "delete or edit many Deployments at once, among more, until the last one is as its box says",
	Notes: []string{
		"A restoration takes from the request that deletes or edits a Deployment until a watch tells that it is there again, or as it was. Other Deployments are taken every round.",
		"The operator, with the defaults of controller-runtime, restores Deployments that are deleted. As the tutorial has it, it does not see that one was edited, nor that a Service was deleted.",
		"Both sides have their boxes and children in one cluster. The operator looks at its own namespace only, as the server looks at its own children only.",
		"Writes count all clients of boxes, Deployments and Services but the one that deletes or edits. The controller manager is included.",
	},
	Testbed: testbed.Options{Controllers: true},
	Figures: []result.Figure{
		{Name: runner.LatencyP50, Unit: result.Seconds},
		{Name: runner.LatencyP99, Unit: result.Seconds},
		{Name: runner.Time, Unit: result.Seconds},
		{Name: writesPerChild, Unit: result.Count},
		{Name: cpuPerChild, Unit: result.Seconds},
	},
	Comparisons: []result.Comparison{againstDefault},
	Goals:       []result.Goal{{Figure: runner.LatencyP99, Ours: boxes.ModelBox.Name, AtMost: ptr.To(2.0)}},
	Size:        400, QuickSize: 30, FullSize: 5000, SizeOf: "boxes on each side",
	Measure: measureDrift,
}

// disturbance is a change that another client makes to a Deployment.
type disturbance struct {
	name string
	// writes is how many of the counted writes belong to the disturbance itself.
	writes float64
	do     func(ctx context.Context, deployments appsclient.DeploymentInterface, name string) error
	// isUndone returns whether a Deployment is as it was before.
	isUndone func(before, now *appsv1.Deployment) bool
}

var (
	deletion = disturbance{
		"deleted", 1,
		func(ctx context.Context, deployments appsclient.DeploymentInterface, name string) error {
			return deployments.Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)})
		},
		func(before, now *appsv1.Deployment) bool { return now.UID != before.UID },
	}
	edit = disturbance{
		"edited", 1,
		func(ctx context.Context, deployments appsclient.DeploymentInterface, name string) error {
			const patch = `[{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "registry.example.com/shop/web:edited"}]`
			_, err := deployments.Patch(ctx, name, types.JSONPatchType, []byte(patch), metav1.PatchOptions{FieldManager: "kubectl-edit"})
			return err
		},
		func(before, now *appsv1.Deployment) bool {
			// The edit is one generation, its restoration another.
			return now.Generation >= before.Generation+2 &&
				now.Spec.Template.Spec.Containers[0].Image == before.Spec.Template.Spec.Containers[0].Image
		},
	}
)

// drifting is a controller whose children are disturbed.
type drifting struct {
	*runner.Run
	name, namespace string
	disturbances    []disturbance
	deployments     appsclient.DeploymentInterface
}

func measureDrift(ctx context.Context, r *runner.Run) (err error) {
	if err := boxes.InstallDefinition(ctx, r.Testbed); err != nil {
		return err
	}
	config := rest.CopyConfig(r.Testbed.User)
	config.QPS = -1
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = config.ContentType
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	contestants := []*drifting{
		{r, boxes.ModelBox.Name, "drift-modelbox", []disturbance{deletion, edit}, client.AppsV1().Deployments("drift-modelbox")},
		{r, operatorByDefault, "drift-crd", []disturbance{deletion}, client.AppsV1().Deployments("drift-crd")},
	}
	if err := createBothSettled(ctx, r, contestants[0].namespace, contestants[1].namespace); err != nil {
		return err
	}
	stop, err := operator.Start(ctx, r.Testbed, operator.Options{Namespace: contestants[1].namespace})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	return runner.Interleave(r, contestants, func(round int, d *drifting) error {
		for _, disturbance := range d.disturbances {
			if err := d.measure(ctx, round, disturbance); err != nil {
				return fmt.Errorf("%s, %s: %w", d.name, disturbance.name, err)
			}
		}
		return nil
	})
}

// chosen returns the names of the Deployments of a round. No two rounds have the same ones as long as there are enough: after a
// while, the server leaves fields alone that it has to restore again and again.
func (d *drifting) chosen(round int) []string {
	count := max(1, min(driftedAtOnce, d.Size/d.Rounds))
	names := make([]string, count)
	for i := range names {
		names[i] = fmt.Sprintf("box-%d", (round*count+i)%d.Size)
	}
	return names
}

func (d *drifting) measure(ctx context.Context, round int, disturbance disturbance) error {
	names := d.chosen(round)
	restored, err := d.remember(ctx)
	if err != nil {
		return err
	}
	writesBefore, err := countRequests(ctx, d.Testbed)
	if err != nil {
		return err
	}
	cpu, err := d.CPU(ctx, func() error { return d.disturb(ctx, names, disturbance, restored) })
	if err != nil {
		return err
	}
	writesAfter, err := countRequests(ctx, d.Testbed)
	if err != nil {
		return err
	}
	latency, err := result.EncodeLatency(restored.latency)
	if err != nil {
		return err
	}
	written, _ := writesAfter.since(writesBefore)
	perChild := func(value float64) float64 { return value / float64(len(names)) }
	d.Record(result.Measurement{
		Case: fmt.Sprintf("%d Deployments %s", len(names), disturbance.name), Contestant: d.name, Round: round, CPU: cpu, Latency: latency,
		Values: map[string]float64{
			runner.LatencyP50: float64(restored.latency.ValueAtQuantile(50)) / 1e6,
			runner.LatencyP99: float64(restored.latency.ValueAtQuantile(99)) / 1e6,
			runner.Time:       restored.took.Seconds(),
			writesPerChild:    perChild(written) - disturbance.writes,
			cpuPerChild:       perChild(process.Total(cpu)),
		},
	})
	return nil
}

// restorations are when Deployments were disturbed, and how long they have stayed so.
type restorations struct {
	// before are the Deployments before they were disturbed, at that resource version.
	before          map[string]*appsv1.Deployment
	resourceVersion string
	// took is how long all of it has taken.
	took time.Duration

	mu        sync.Mutex
	disturbed map[string]time.Time
	latency   *hdrhistogram.Histogram
}

// remember looks at what is going to be disturbed.
func (d *drifting) remember(ctx context.Context) (*restorations, error) {
	list, err := d.deployments.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing Deployments: %w", err)
	}
	restored := &restorations{
		before: map[string]*appsv1.Deployment{}, resourceVersion: list.ResourceVersion,
		disturbed: map[string]time.Time{}, latency: result.NewLatency(),
	}
	for i := range list.Items {
		restored.before[list.Items[i].Name] = &list.Items[i]
	}
	return restored, nil
}

// disturb disturbs the Deployments and returns when all of them are as they were.
func (d *drifting) disturb(ctx context.Context, names []string, disturbance disturbance, restored *restorations) error {
	ctx, cancel := context.WithTimeout(ctx, restoreTimeout)
	defer cancel()
	watched, err := watchtools.NewRetryWatcherWithContext(ctx, restored.resourceVersion, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return d.deployments.Watch(ctx, options)
		},
	})
	if err != nil {
		return fmt.Errorf("watching Deployments: %w", err)
	}
	defer watched.Stop()
	all := make(chan error, 1)
	go func() { all <- restored.count(watched, len(names), disturbance.isUndone) }()
	began := time.Now()
	_, err = load.Run(ctx, fillClients, len(names), func(ctx context.Context, _, i int) error {
		restored.expect(names[i])
		return disturbance.do(ctx, d.deployments, names[i])
	})
	if err != nil {
		return fmt.Errorf("disturbing Deployments: %w", err)
	}
	err = <-all
	restored.took = time.Since(began)
	return err
}

// expect says that a Deployment is disturbed now.
func (r *restorations) expect(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.disturbed[name] = time.Now()
}

// count returns when so many Deployments are restored.
func (r *restorations) count(watched watch.Interface, want int, isUndone func(before, now *appsv1.Deployment) bool) error {
	count := int64(0)
	for event := range watched.ResultChan() {
		now, isDeployment := event.Object.(*appsv1.Deployment)
		if !isDeployment {
			return fmt.Errorf("watching Deployments: %s %v", event.Type, event.Object)
		}
		before, isKnown := r.before[now.Name]
		if event.Type == watch.Deleted || !isKnown || !isUndone(before, now) {
			continue
		}
		if count = r.restored(now.Name, time.Now()); count == int64(want) {
			return nil
		}
	}
	return fmt.Errorf("the watch ends when %d of %d Deployments are restored", count, want)
}

// restored records that a Deployment is restored, the first time that it is, and returns how many are.
func (r *restorations) restored(name string, at time.Time) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if disturbed, found := r.disturbed[name]; found {
		delete(r.disturbed, name)
		_ = r.latency.RecordValue(min(max(at.Sub(disturbed).Microseconds(), 1), r.latency.HighestTrackableValue()))
	}
	return r.latency.TotalCount()
}
