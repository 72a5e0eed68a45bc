// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/baseline"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/boxes"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/kro"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/load"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/operator"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/process"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/result"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/runner"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/testbed"
)

// Figures of controllers.
const (
	writesPerBox = "writes a box"
	readsPerBox  = "reads a box"
	cpuPerBox    = "CPU a box"
)

// atOnce is the case of scenarios in which as many boxes as there are begin together.
const atOnce = "boxes at once"

// ourWorkers is how many boxes the server reconciles at the same time by default.
const ourWorkers = 20

// The contestants.
const (
	operatorByDefault = "CRD + operator"
	operatorLikeOurs  = "CRD + operator, our workers"
	limit             = "limit"
	rawPuts           = "etcd alone"
)

var (
	againstDefault = result.Comparison{Ours: boxes.ModelBox.Name, Peer: operatorByDefault}
	againstWorkers = result.Comparison{Ours: boxes.ModelBox.Name, Peer: operatorLikeOurs}
	againstKro     = result.Comparison{Ours: boxes.ModelBox.Name, Peer: kro.API.Name}
	againstLimit   = result.Comparison{Ours: boxes.ModelBox.Name, Peer: limit}
)

var convergeScenario = &runner.Scenario{
	Name:  "converge",
	Shows: "create many boxes without pods at once, until each has its Deployment and its Service, and says so in its status",
	Notes: []string{
		"The time begins with the first box that is created, by 16 clients, and ends when the last status says that the box is Ready.",
		"The operator is one as kubebuilder scaffolds it, with the defaults of controller-runtime, and again with " + fmt.Sprint(ourWorkers) + " workers, as the server has them.",
		"kro has a ResourceGraphDefinition of the same fields and children, as many workers, and the settings of its chart for the rest.",
		fmt.Sprintf("The boxes are spread over %d namespaces: the server lets none of them have more than half of its workers.", spreadOver),
		"The limit creates custom resources and the children that the server has made, and writes each status once, with " + fmt.Sprint(ourWorkers) + " requests at a time, and waits for nothing.",
		"etcd alone is what the limit cannot be below: a client of both etcds puts the bytes that they have of a box, its Deployment and its Service, the box twice, for " + fmt.Sprint(ourWorkers) + " boxes at a time.",
		"Writes and reads count all clients of boxes, Deployments and Services, without the creation of the boxes: the controller manager writes to each Deployment as well.",
	},
	Testbed: testbed.Options{Controllers: true},
	Figures: []result.Figure{
		{Name: runner.Time, Unit: result.Seconds},
		{Name: writesPerBox, Unit: result.Count},
		{Name: readsPerBox, Unit: result.Count},
		{Name: cpuPerBox, Unit: result.Seconds},
	},
	Comparisons: []result.Comparison{againstLimit, againstDefault, againstWorkers, againstKro},
	Goals: []result.Goal{
		atMost("", againstLimit, runner.Time, 1.25),
		atMost("", againstDefault, runner.Time, 1.0/5),
		atMost("", againstWorkers, runner.Time, 1/1.5),
		atMost("", againstLimit, writesPerBox, 1),
	},
	Size: 60, QuickSize: 20, FullSize: 5000,
	Measure: measureConvergence,
}

// controllers are what turns boxes into what they are about.
type controllers struct {
	name string
	api  boxes.API
	// start starts what is not running yet, until stop is called. Nil: nothing.
	start func(ctx context.Context, bed *testbed.Testbed) (stop func() error, err error)
	// create creates the boxes.
	create func(ctx context.Context, bed *testbed.Testbed, api boxes.API, stored []*modelv1.ModelBox) error
}

// converging is a contestant that measures its own turn.
type converging interface {
	measure(ctx context.Context, r *runner.Run, round int, turn string) error
}

func measureConvergence(ctx context.Context, r *runner.Run) error {
	if err := boxes.InstallDefinition(ctx, r.Testbed); err != nil {
		return err
	}
	if err := kro.Install(ctx, r.Testbed); err != nil {
		return err
	}
	children, err := observeChildren(ctx, r, exampleNamespace)
	if err != nil {
		return err
	}
	values, err := baseline.ObserveValues(ctx, r.Testbed, exampleNamespace, exampleBox)
	if err != nil {
		return err
	}
	withWorkers := func(workers int) func(context.Context, *testbed.Testbed) (func() error, error) {
		return func(ctx context.Context, bed *testbed.Testbed) (func() error, error) {
			return operator.Start(ctx, bed, operator.Options{Workers: workers})
		}
	}
	contestants := []converging{
		controllers{boxes.ModelBox.Name, boxes.ModelBox, nil, createBoxes},
		controllers{operatorByDefault, boxes.CRD, withWorkers(0), createBoxes},
		controllers{operatorLikeOurs, boxes.CRD, withWorkers(ourWorkers), createBoxes},
		controllers{kro.API.Name, kro.API, func(ctx context.Context, bed *testbed.Testbed) (func() error, error) {
			return kro.Start(ctx, bed, ourWorkers)
		}, createBoxes},
		controllers{limit, boxes.CRD, nil, func(ctx context.Context, bed *testbed.Testbed, api boxes.API, stored []*modelv1.ModelBox) error {
			return baseline.Write(ctx, bed, api, children, stored, ourWorkers)
		}},
		puts{values},
	}
	turn := 0
	return runner.Interleave(r, contestants, func(round int, c converging) error {
		turn++
		return c.measure(ctx, r, round, fmt.Sprintf("converge-%d", turn))
	})
}

// The box that shows what has to be written for one.
const exampleNamespace, exampleBox = "converge-example", "box"

// observeChildren lets the server make the children of one box, in a new namespace.
func observeChildren(ctx context.Context, r *runner.Run, namespace string) (*baseline.Children, error) {
	if err := boxes.CreateNamespace(ctx, r.Testbed, namespace); err != nil {
		return nil, err
	}
	ready, err := awaitReady(ctx, r.Testbed, boxes.ModelBox, []string{namespace}, 1)
	if err != nil {
		return nil, err
	}
	if err := createBoxes(ctx, r.Testbed, boxes.ModelBox, []*modelv1.ModelBox{boxes.New(namespace, exampleBox)}); err != nil {
		return nil, err
	}
	if err := <-ready; err != nil {
		return nil, err
	}
	return baseline.Observe(ctx, r.Testbed.Client, namespace, exampleBox)
}

func createBoxes(ctx context.Context, bed *testbed.Testbed, api boxes.API, stored []*modelv1.ModelBox) error {
	clients, err := api.NewClients(bed.User, fillClients)
	if err != nil {
		return err
	}
	_, err = load.Run(ctx, fillClients, len(stored), func(ctx context.Context, client, i int) error {
		return clients[client].Post().Namespace(stored[i].Namespace).Resource(boxes.Resource).Body(stored[i]).Do(ctx).Error()
	})
	if err != nil {
		return fmt.Errorf("creating boxes: %w", err)
	}
	return nil
}

func (c controllers) measure(ctx context.Context, r *runner.Run, round int, turn string) error {
	namespaces, err := createNamespaces(ctx, r.Testbed, turn)
	if err != nil {
		return err
	}
	stop := func() error { return nil }
	if c.start != nil {
		if stop, err = c.start(ctx, r.Testbed); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	// What is stopped has nothing against the removal.
	if err := errors.Join(c.converge(ctx, r, round, namespaces), stop()); err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	return removeAll(ctx, r.Testbed, c.api, namespaces)
}

func (c controllers) converge(ctx context.Context, r *runner.Run, round int, namespaces []string) error {
	stored := newBoxes(namespaces, r.Size)
	before, err := countRequests(ctx, r.Testbed)
	if err != nil {
		return err
	}
	var took time.Duration
	cpu, err := r.CPU(ctx, func() error {
		ready, err := awaitReady(ctx, r.Testbed, c.api, namespaces, len(stored))
		if err != nil {
			return err
		}
		began := time.Now()
		if err := c.create(ctx, r.Testbed, c.api, stored); err != nil {
			return err
		}
		err = <-ready
		took = time.Since(began)
		return err
	})
	if err != nil {
		return err
	}
	after, err := countRequests(ctx, r.Testbed)
	if err != nil {
		return err
	}
	if err := expectChildren(ctx, r.Testbed, namespaces, len(stored)); err != nil {
		return err
	}
	writes, reads := after.since(before)
	perBox := func(count float64) float64 { return count / float64(len(stored)) }
	r.Record(result.Measurement{
		Case: atOnce, Contestant: c.name, Round: round, CPU: cpu,
		Values: map[string]float64{
			runner.Time:  took.Seconds(),
			writesPerBox: perBox(writes) - 1,
			readsPerBox:  perBox(reads),
			cpuPerBox:    perBox(process.Total(cpu)),
		},
	})
	return nil
}

// puts are the values of boxes, which are put into the etcds and removed again.
type puts struct{ values baseline.Values }

func (p puts) measure(ctx context.Context, r *runner.Run, round int, _ string) (err error) {
	putter, err := baseline.NewPutter(r.Testbed)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, putter.Close()) }()
	var took time.Duration
	cpu, err := r.CPU(ctx, func() error {
		began := time.Now()
		err := putter.Put(ctx, p.values, r.Size, ourWorkers)
		took = time.Since(began)
		return err
	})
	if err != nil {
		return err
	}
	r.Record(result.Measurement{
		Case: atOnce, Contestant: rawPuts, Round: round, CPU: cpu,
		Values: map[string]float64{runner.Time: took.Seconds(), cpuPerBox: process.Total(cpu) / float64(r.Size)},
	})
	return putter.Remove(ctx)
}

// expectChildren checks that every box has what it is about: a status could say anything.
func expectChildren(ctx context.Context, bed *testbed.Testbed, namespaces []string, want int) error {
	deployments, services := 0, 0
	for _, namespace := range namespaces {
		ofDeployments, err := bed.Client.AppsV1().Deployments(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return fmt.Errorf("listing Deployments: %w", err)
		}
		ofServices, err := bed.Client.CoreV1().Services(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return fmt.Errorf("listing Services: %w", err)
		}
		deployments, services = deployments+len(ofDeployments.Items), services+len(ofServices.Items)
	}
	if deployments != want || services != want {
		return fmt.Errorf("there are %d Deployments and %d Services, want %d of each", deployments, services, want)
	}
	return nil
}
