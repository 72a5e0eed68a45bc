// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
	modelstackrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelstack"
)

// maxGraphs is how many graphs are kept. A stack whose graph is not kept is rendered again when something happens to it.
const maxGraphs = 100

// graph is what one generation of a stack says: its components, what they ask for, and how they depend on each other.
type graph struct {
	components []*component
	byName     map[string]*component
	// byChild has the components by the name that their children have.
	byChild map[string]*component
	// sorted has what a component depends on before it.
	sorted []*component
}

// component is a part of a stack.
type component struct {
	*modelv1.ModelStackComponent
	// index is where it is in the stack.
	index                 int
	dependencies, waiters []*component
	// rendered are the children that it asks for, the box or the Service first, and autoscaled is the box while an autoscaler
	// decides the number of its pods.
	rendered, autoscaled []*unstructured.Unstructured
}

// graphID tells one generation of a stack from another.
type graphID struct {
	uid        types.UID
	generation int64
}

// graphOf returns the graph of the stack, which is kept as long as it is in use.
func (c *Controller) graphOf(stack *modelv1.ModelStack) (*graph, error) {
	id := graphID{stack.UID, stack.Generation}
	if kept, ok := c.graphs.Get(id); ok {
		return kept.(*graph), nil
	}
	made, err := newGraph(stack)
	if err != nil {
		return nil, err
	}
	c.graphs.Add(id, made)
	return made, nil
}

func newGraph(stack *modelv1.ModelStack) (*graph, error) {
	g := &graph{byName: map[string]*component{}, byChild: map[string]*component{}}
	renderer := modelstackrender.NewRenderer(stack)
	for i := range stack.Spec.Components {
		made := &component{ModelStackComponent: &stack.Spec.Components[i], index: i}
		var err error
		if made.rendered, err = renderer.Children(made.ModelStackComponent, false); err != nil {
			return nil, err
		}
		if made.Box != nil && made.Box.Replicas != nil {
			if made.autoscaled, err = renderer.Children(made.ModelStackComponent, true); err != nil {
				return nil, err
			}
		}
		g.components = append(g.components, made)
		g.byName[made.Name], g.byChild[made.BoxName] = made, made
	}
	for _, each := range g.components {
		for _, name := range each.DependsOn {
			if dependency := g.byName[name]; dependency != nil {
				each.dependencies = append(each.dependencies, dependency)
				dependency.waiters = append(dependency.waiters, each)
			}
		}
	}
	g.sort()
	return g, nil
}

// sort fills in sorted. Validation has made sure that there are no cycles.
func (g *graph) sort() {
	missing := make([]int, len(g.components))
	for i, each := range g.components {
		if missing[i] = len(each.dependencies); missing[i] == 0 {
			g.sorted = append(g.sorted, each)
		}
	}
	for next := 0; next < len(g.sorted); next++ {
		for _, waiter := range g.sorted[next].waiters {
			if missing[waiter.index]--; missing[waiter.index] == 0 {
				g.sorted = append(g.sorted, waiter)
			}
		}
	}
}

// revision identifies what the stack says of a component.
func revision(rendered []*unstructured.Unstructured) string { return render.Hash(rendered[0]) }
