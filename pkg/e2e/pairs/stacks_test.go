// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package pairs

import (
	"fmt"
	"slices"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// stackChange is a change of a stack of db, cache and web. web depends on both.
type stackChange struct {
	name          string
	before, after func(*modelv1.ModelStackSpec)
}

// stackChanges are the changes of pairs of stacks.
var stackChanges = []stackChange{
	{"component that comes", asItIs, func(spec *modelv1.ModelStackSpec) {
		addComponent(spec, "queue")
		componentNamed(spec, "web").DependsOn = []string{"db", "cache", "queue"}
	}},
	{"component that goes", asItIs, func(spec *modelv1.ModelStackSpec) {
		componentNamed(spec, "web").DependsOn = []string{"db"}
		spec.Components = slices.DeleteFunc(spec.Components, func(component modelv1.ModelStackComponent) bool { return component.Name == "cache" })
	}},
	{"component that others depend on", asItIs, withImageOf("db")},
	{"component that depends on others", asItIs, withImageOf("web")},
	{"all components", asItIs, withImageOf("db", "cache", "web")},
	{"component that goes outside", asItIs, withOutside("db.example.com")},
	{"component that comes from outside", withOutside("192.0.2.1"), asItIs},
	{"host outside", withOutside("db.example.com"), withOutside("192.0.2.1")},
	{"port outside", withOutside("db.example.com"), func(spec *modelv1.ModelStackSpec) {
		withOutside("db.example.com")(spec)
		componentNamed(spec, "db").External.Port = 81
	}},
	{"credentials outside", withOutside("db.example.com"), func(spec *modelv1.ModelStackSpec) {
		withOutside("db.example.com")(spec)
		componentNamed(spec, "db").External.CredentialsSecretName = "db"
	}},
	{"dependency that comes", asItIs, func(spec *modelv1.ModelStackSpec) { componentNamed(spec, "db").DependsOn = []string{"cache"} }},
	{"dependency that goes", asItIs, func(spec *modelv1.ModelStackSpec) { componentNamed(spec, "web").DependsOn = []string{"db"} }},
	{"dependency that turns round", asItIs, func(spec *modelv1.ModelStackSpec) {
		componentNamed(spec, "web").DependsOn = nil
		componentNamed(spec, "db").DependsOn = []string{"web"}
	}},
	{"rollout", asItIs, func(spec *modelv1.ModelStackSpec) {
		spec.Rollout = modelv1.ComponentsParallel
		withImageOf("db", "web")(spec)
	}},
	{"deletion", asItIs, func(spec *modelv1.ModelStackSpec) { spec.Deletion = modelv1.ComponentsParallel }},
	{"isolation that comes", asItIs, func(spec *modelv1.ModelStackSpec) { spec.Isolate = ptr.To(true) }},
	{"isolation that goes", func(spec *modelv1.ModelStackSpec) { spec.Isolate = ptr.To(true) }, asItIs},
	{"dependency that goes with isolation", func(spec *modelv1.ModelStackSpec) { spec.Isolate = ptr.To(true) }, func(spec *modelv1.ModelStackSpec) {
		spec.Isolate = ptr.To(true)
		componentNamed(spec, "web").DependsOn = []string{"db"}
	}},
	{"name of a box", asItIs, func(spec *modelv1.ModelStackSpec) { componentNamed(spec, "cache").BoxName += "-2" }},
	{"storage of a component", asItIs, func(spec *modelv1.ModelStackSpec) {
		componentNamed(spec, "db").Box.Workload = statefulSet
		componentNamed(spec, "db").BoxName += "-2"
	}},
}

// stackWay is a way to change stacks.
type stackWay = way[*stackPair]

// stackWays are the ways to change stacks that do not disturb other stacks.
var stackWays = []stackWay{
	{name: "taken back", change: func(p *stackPair) {
		p.set(p.after)
		p.awaitReady()
		p.set(p.before)
	}, replacesPods: true},
	{name: "taken back at once", change: func(p *stackPair) {
		p.set(p.after)
		p.set(p.before)
	}, replacesPods: true},
	{name: "taken back while a dependency is stuck", change: func(p *stackPair) {
		p.set(p.after, stuckCache)
		p.awaitObserved()
		p.set(p.before)
	}, replacesPods: true},
	{name: "corrected while a dependency is stuck", change: func(p *stackPair) {
		p.set(p.after, stuckCache)
		p.awaitObserved()
		p.set(p.after)
	}},
	{name: "corrected while the last component is stuck", change: func(p *stackPair) {
		p.set(p.after, func(spec *modelv1.ModelStackSpec) { makeStuck(spec, "web") })
		p.awaitObserved()
		p.set(p.after)
	}},
	{name: "made during a pause", change: func(p *stackPair) {
		p.set(p.after, func(spec *modelv1.ModelStackSpec) { spec.Paused = true })
		p.awaitObserved()
		p.set(p.after)
	}},
	{name: "while its boxes are deleted", change: func(p *stackPair) {
		p.set(p.after)
		p.deleteBoxes()
	}, replacesPods: true},
	{name: "of a stack that is recreated", change: func(p *stackPair) {
		p.deleteStack(metav1.DeletePropagationBackground)
		p.createStack(p.after, nil)
	}, isOfNewOnes: true},
	{name: "of a stack that adopts orphans", change: func(p *stackPair) {
		p.deleteStack(metav1.DeletePropagationOrphan)
		p.createStack(p.before, map[string]string{modelv1.AdoptAnnotation: "true"})
		p.awaitReady()
		p.set(p.after)
	}, isOfNewOnes: true, keepsChildren: true},
	{name: "while boxes are denied", prepare: deny("modelboxes"), change: makeStackChange},
	{name: "while all but boxes is denied", prepare: deny("services", "endpointslices", "controllerrevisions", "deployments"), change: makeStackChange},
}

// stackStrikes are ways that disturb the server of all stacks.
var stackStrikes = []stackWay{
	{name: "before the server is killed", change: makeStackChange, strike: signalServer(syscall.SIGKILL)},
	{name: "taken back after the store is lost", change: func(p *stackPair) {
		p.set(p.after)
		p.awaitReady()
	}, strike: loseStore, takeBack: func(p *stackPair) { p.set(p.before) }, replacesPods: true},
}

// makeStackChange makes the change without a disturbance.
func makeStackChange(p *stackPair) { p.set(p.after) }

// TestStacks makes the changes of stacks in ways that do not disturb other stacks.
func TestStacks(t *testing.T) {
	t.Parallel()
	every := triedPart(t)
	for i := range stackWays {
		way := &stackWays[i]
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			run(framework.NewNamespace(t), way, stackPairsOf(way, i, every))
		})
	}
}

// unchangedOfStacks are the fields of stacks without a change, with the reasons.
var unchangedOfStacks = map[string]string{
	"Paused": "a pause alone changes nothing: there is a way with one",
	"Name":   "a component of another name is one that comes, and one that goes",
}

// stackPairsOf returns the pairs of the way with the index: one of each given number, and at least one.
func stackPairsOf(way *stackWay, index, every int) []*stackPair {
	every = min(every, len(stackChanges))
	var pairs []*stackPair
	for i, change := range stackChanges {
		if (i+index)%every == 0 {
			pairs = append(pairs, &stackPair{way: way, change: change, stack: fmt.Sprintf("stack-%d", i)})
		}
	}
	return pairs
}

func asItIs(*modelv1.ModelStackSpec) {}

// componentNamed returns the component with the name, which must exist.
func componentNamed(spec *modelv1.ModelStackSpec, name string) *modelv1.ModelStackComponent {
	return &spec.Components[slices.IndexFunc(spec.Components, func(component modelv1.ModelStackComponent) bool { return component.Name == name })]
}

// addComponent adds a component with a box that is ready soon. The name of its box is set later, with the name of the stack.
func addComponent(spec *modelv1.ModelStackSpec, name string, dependsOn ...string) {
	box := framework.NewBox(name, soonReady).Spec
	spec.Components = append(spec.Components, modelv1.ModelStackComponent{Name: name, BoxName: name, DependsOn: dependsOn, Box: &box})
}

func withImageOf(names ...string) func(*modelv1.ModelStackSpec) {
	return func(spec *modelv1.ModelStackSpec) {
		for _, name := range names {
			componentNamed(spec, name).Box.Image = framework.NewImage
		}
	}
}

// withOutside makes the component db external.
func withOutside(host string) func(*modelv1.ModelStackSpec) {
	return func(spec *modelv1.ModelStackSpec) {
		db := componentNamed(spec, "db")
		db.Box, db.External = nil, &modelv1.ModelStackExternal{Host: host, Port: 80}
	}
}

// stuckCache blocks the update of web with a dependency that is not ready: cache, or db if there is no cache.
func stuckCache(spec *modelv1.ModelStackSpec) {
	for _, name := range []string{"cache", "db"} {
		i := slices.IndexFunc(spec.Components, func(component modelv1.ModelStackComponent) bool { return component.Name == name })
		if i >= 0 && spec.Components[i].Box != nil {
			makeStuck(spec, name)
			return
		}
	}
}

func makeStuck(spec *modelv1.ModelStackSpec, name string) {
	framework.Unschedulable(componentNamed(spec, name).Box)
}

// specs returns the specs of a stack with the name before and after the change.
func (c stackChange) specs(name string) (before, after modelv1.ModelStackSpec) {
	spec := func(change func(*modelv1.ModelStackSpec)) modelv1.ModelStackSpec {
		spec := modelv1.ModelStackSpec{}
		addComponent(&spec, "db")
		addComponent(&spec, "cache")
		addComponent(&spec, "web", "db", "cache")
		change(&spec)
		for i := range spec.Components {
			spec.Components[i].BoxName = name + "-" + spec.Components[i].BoxName
		}
		return spec
	}
	return spec(c.before), spec(c.after)
}
