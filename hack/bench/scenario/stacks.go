// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modelclient "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/typed/model/v1"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/boxes"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/load"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/process"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/result"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/runner"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/testbed"
)

const (
	stackLayers       = 3
	componentsOfLayer = 4
	componentsOfStack = stackLayers * componentsOfLayer

	// The contestants.
	inStacks = "ModelStacks"
	byHand   = "boxes without a stack"

	writesPerComponent = "writes a component"
	writesPerStack     = "writes of the stack"
	cpuPerComponent    = "CPU a component"
)

var againstHand = result.Comparison{Ours: inStacks, Peer: byHand}

var stacksScenario = &runner.Scenario{
	Name:  "stacks",
	Shows: fmt.Sprintf("create many stacks of %d components without pods at once, each of which waits for what it depends on", componentsOfStack),
	Notes: []string{
		fmt.Sprintf("A stack has %d layers of %d components, and each component depends on all of the layer below.", stackLayers, componentsOfLayer),
		"The peer are the boxes that the server has made of such a stack, created by clients who watch them: a box as soon as those that it depends on are Ready. Stacks and boxes are created by " + fmt.Sprint(fillClients) + " clients.",
		fmt.Sprintf("The stacks are spread over %d namespaces: the server lets none of them have more than half of its workers.", spreadOver),
		"The time ends when the last stack is Ready, and when the last box is.",
		"Writes of a component count all clients of its box, its Deployment and its Service, its creation included. Writes of the stack are counted apart, its creation included.",
	},
	Testbed: testbed.Options{Controllers: true},
	Figures: []result.Figure{
		{Name: runner.Time, Unit: result.Seconds},
		{Name: writesPerComponent, Unit: result.Count},
		{Name: writesPerStack, Unit: result.Count},
		{Name: cpuPerComponent, Unit: result.Seconds},
	},
	Comparisons: []result.Comparison{againstHand},
	Goals: []result.Goal{
		atMost("", againstHand, runner.Time, 1.2),
		atMost("", againstHand, writesPerComponent, 1),
	},
	Size: 8, QuickSize: 3, FullSize: 200, SizeOf: "stacks",
	Measure: measureStacks,
}

// applications are one way to create many of the same boxes in order.
type applications struct {
	name string
	// create creates so many applications, spread over the namespaces, and returns when all is Ready.
	create func(ctx context.Context, client *modelclient.ModelV1Client, namespaces []string, count int) error
}

func measureStacks(ctx context.Context, r *runner.Run) error {
	client, err := newModelClient(r.Testbed)
	if err != nil {
		return err
	}
	example, err := observeStack(ctx, r.Testbed, client)
	if err != nil {
		return err
	}
	contestants := []applications{{inStacks, createStacks}, {byHand, example.createByHand}}
	turn := 0
	return runner.Interleave(r, contestants, func(round int, a applications) error {
		turn++
		if err := measureApplications(ctx, r, round, client, fmt.Sprintf("stacks-%d", turn), a); err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
		return nil
	})
}

func measureApplications(
	ctx context.Context, r *runner.Run, round int, client *modelclient.ModelV1Client, name string, a applications,
) error {
	namespaces, err := createNamespaces(ctx, r.Testbed, name)
	if err != nil {
		return err
	}
	boxesBefore, err := countRequests(ctx, r.Testbed)
	if err != nil {
		return err
	}
	stacksBefore, err := countStackRequests(ctx, r.Testbed)
	if err != nil {
		return err
	}
	var took time.Duration
	cpu, err := r.CPU(ctx, func() error {
		began := time.Now()
		err := a.create(ctx, client, namespaces, r.Size)
		took = time.Since(began)
		return err
	})
	if err != nil {
		return err
	}
	boxesAfter, err := countRequests(ctx, r.Testbed)
	if err != nil {
		return err
	}
	stacksAfter, err := countStackRequests(ctx, r.Testbed)
	if err != nil {
		return err
	}
	components := r.Size * componentsOfStack
	if err := expectChildren(ctx, r.Testbed, namespaces, components); err != nil {
		return err
	}
	writesOfBoxes, _ := boxesAfter.since(boxesBefore)
	writesOfStacks, _ := stacksAfter.since(stacksBefore)
	r.Record(result.Measurement{
		Case: "stacks at once", Contestant: a.name, Round: round, CPU: cpu,
		Values: map[string]float64{
			runner.Time:        took.Seconds(),
			writesPerComponent: writesOfBoxes / float64(components),
			writesPerStack:     writesOfStacks / float64(r.Size),
			cpuPerComponent:    process.Total(cpu) / float64(components),
		},
	})
	for _, namespace := range namespaces {
		if err := client.ModelStacks(namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
			return fmt.Errorf("deleting stacks: %w", err)
		}
	}
	return removeAll(ctx, r.Testbed, boxes.ModelBox, namespaces)
}

// newModelClient returns a client of the server for stacks as well as for boxes, in its best encoding.
func newModelClient(bed *testbed.Testbed) (*modelclient.ModelV1Client, error) {
	config := rest.CopyConfig(bed.User)
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = config.ContentType
	config.QPS = -1
	client, err := modelclient.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("creating a client of the server: %w", err)
	}
	return client, nil
}

// newStack returns a stack whose components are in layers, of which each needs all of the one below. Deletion is parallel, since it
// is not measured.
func newStack(namespace, name string) *modelv1.ModelStack {
	stack := &modelv1.ModelStack{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       modelv1.ModelStackSpec{Deletion: modelv1.ComponentsParallel},
	}
	var below, layer []string
	for i := range componentsOfStack {
		if i%componentsOfLayer == 0 {
			below, layer = layer, nil
		}
		component := modelv1.ModelStackComponent{Name: fmt.Sprintf("part-%d", i), DependsOn: below, Box: &boxes.New(namespace, name).Spec}
		layer = append(layer, component.Name)
		stack.Spec.Components = append(stack.Spec.Components, component)
	}
	return stack
}

func createStacks(ctx context.Context, client *modelclient.ModelV1Client, namespaces []string, count int) error {
	ready, err := awaitStacks(ctx, client, namespaces, count)
	if err != nil {
		return err
	}
	_, err = load.Run(ctx, fillClients, count, func(ctx context.Context, _, i int) error {
		namespace := namespaces[i%len(namespaces)]
		_, err := client.ModelStacks(namespace).Create(ctx, newStack(namespace, fmt.Sprintf("stack-%d", i)), metav1.CreateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("creating stacks: %w", err)
	}
	return <-ready
}

func awaitStacks(ctx context.Context, client *modelclient.ModelV1Client, namespaces []string, want int) (<-chan error, error) {
	return await(ctx, func(ctx context.Context) (watch.Interface, error) {
		return client.ModelStacks(metav1.NamespaceAll).Watch(ctx, metav1.ListOptions{})
	}, namespaces, want, func(stack *modelv1.ModelStack) bool {
		condition := meta.FindStatusCondition(stack.Status.Conditions, modelv1.ConditionReady)
		return condition != nil && condition.Status == metav1.ConditionTrue && condition.ObservedGeneration == stack.Generation
	}, nil)
}

// The names of the example are like nothing else in a box, so that they can be replaced wherever they are.
const (
	stackNamespace = "namespace-of-the-example"
	stackName      = "stack-of-the-example"
)

// stackExample has the boxes that the server has made of a stack. A user without stacks would have to write them.
type stackExample struct {
	// boxes are the boxes of the stack as JSON, in the order of the components.
	boxes []string
	// dependsOn are the indexes of the boxes that each one waits for.
	dependsOn [][]int
}

func observeStack(ctx context.Context, bed *testbed.Testbed, client *modelclient.ModelV1Client) (*stackExample, error) {
	if err := boxes.CreateNamespace(ctx, bed, stackNamespace); err != nil {
		return nil, err
	}
	ready, err := awaitStacks(ctx, client, []string{stackNamespace}, 1)
	if err != nil {
		return nil, err
	}
	stack, err := client.ModelStacks(stackNamespace).Create(ctx, newStack(stackNamespace, stackName), metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("creating a stack: %w", err)
	}
	if err := <-ready; err != nil {
		return nil, err
	}
	example, index := &stackExample{}, map[string]int{}
	for i, component := range stack.Spec.Components {
		index[component.Name] = i
		var below []int
		for _, name := range component.DependsOn {
			below = append(below, index[name])
		}
		box, err := client.ModelBoxes(stackNamespace).Get(ctx, component.BoxName, metav1.GetOptions{})
		if err != nil {
			return nil, fmt.Errorf("reading a box of the stack: %w", err)
		}
		written := &modelv1.ModelBox{
			ObjectMeta: metav1.ObjectMeta{Namespace: box.Namespace, Name: box.Name, Labels: box.Labels, Annotations: box.Annotations},
			Spec:       box.Spec,
		}
		encoded, err := json.Marshal(written)
		if err != nil {
			return nil, fmt.Errorf("encoding a box of the stack: %w", err)
		}
		example.boxes, example.dependsOn = append(example.boxes, string(encoded)), append(example.dependsOn, below)
	}
	return example, nil
}

// application returns the boxes of another stack of the kind.
func (e *stackExample) application(namespace, stack string) ([]*modelv1.ModelBox, error) {
	replacer := strings.NewReplacer(stackNamespace, namespace, stackName, stack)
	stored := make([]*modelv1.ModelBox, len(e.boxes))
	for i, encoded := range e.boxes {
		stored[i] = &modelv1.ModelBox{}
		if err := json.Unmarshal([]byte(replacer.Replace(encoded)), stored[i]); err != nil {
			return nil, fmt.Errorf("decoding a box of the stack: %w", err)
		}
		// A box with this label belongs to a stack. These boxes must not.
		delete(stored[i].Labels, modelv1.StackLabel)
	}
	return stored, nil
}

// createByHand creates the boxes of as many stacks, each box as soon as those are Ready that it depends on.
func (e *stackExample) createByHand(ctx context.Context, client *modelclient.ModelV1Client, namespaces []string, count int) error {
	total := count * len(e.boxes)
	plan := newOrder(total)
	stored := make([]*modelv1.ModelBox, 0, total)
	for application := range count {
		made, err := e.application(namespaces[application%len(namespaces)], fmt.Sprintf("stack-%d", application))
		if err != nil {
			return err
		}
		first := len(stored)
		for i, box := range made {
			plan.add(ctrlclient.ObjectKeyFromObject(box), first, e.dependsOn[i])
		}
		stored = append(stored, made...)
	}
	ready, err := await(ctx, func(ctx context.Context) (watch.Interface, error) {
		return client.ModelBoxes(metav1.NamespaceAll).Watch(ctx, metav1.ListOptions{})
	}, namespaces, total, isReady, plan.ready)
	if err != nil {
		return err
	}
	// When the wait for Ready fails, the other goroutine must not wait for the next box that may be created.
	running, ctx := errgroup.WithContext(ctx)
	running.Go(func() error { return <-ready })
	running.Go(func() error {
		_, err := load.Run(ctx, fillClients, total, func(ctx context.Context, _, _ int) error {
			i, err := plan.next(ctx)
			if err != nil {
				return err
			}
			_, err = client.ModelBoxes(stored[i].Namespace).Create(ctx, stored[i], metav1.CreateOptions{})
			return err
		})
		if err != nil {
			return fmt.Errorf("creating boxes: %w", err)
		}
		return nil
	})
	return running.Wait()
}

// countStackRequests is countRequests for the stacks themselves.
func countStackRequests(ctx context.Context, bed *testbed.Testbed) (requestCount, error) {
	group := boxes.ModelBox.GroupVersion.Group
	return countRequestsOf(ctx, bed, map[string][]map[string]string{testbed.APIServer: {
		{"group": group, "resource": "modelstacks", "subresource": ""},
		{"group": group, "resource": "modelstacks", "subresource": "status"},
	}})
}
