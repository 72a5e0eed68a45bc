// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package pairs

import (
	"fmt"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
	modelclient "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/typed/model/v1"
	modelstackrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelstack"
)

// stackPair is a change of a stack, made in one way.
type stackPair struct {
	cell
	way    *stackWay
	change stackChange
	stack  string
	// before and after are the specs before and after the change, and wanted is the expected stored spec at the end.
	before, after, wanted modelv1.ModelStackSpec
	// seen has the UIDs of the stack, of its boxes and of their pods before the change, and the specs of the boxes.
	seen struct {
		stack types.UID
		boxes map[string]modelv1.ModelBox
		pods  map[string]map[string]types.UID
	}
}

func (p *stackPair) name() string { return p.change.name }

func (p *stackPair) stacks() modelclient.ModelStackInterface {
	return p.ControlPlane.ModelClient.ModelV1().ModelStacks(p.Name)
}

// begin creates the stack, waits until it is Ready, and records its objects.
func (p *stackPair) begin() {
	p.T.Helper()
	p.before, p.after = p.change.specs(p.stack)
	p.createStack(p.before, nil)
	p.before = p.wanted
	p.seen.stack = p.awaitReady().UID
	p.seen.boxes, p.seen.pods = p.boxes(), map[string]map[string]types.UID{}
	for name := range p.seen.boxes {
		p.seen.pods[name] = p.PodUIDs(name)
	}
}

// boxes returns the boxes of the stack by name.
func (p *stackPair) boxes() map[string]modelv1.ModelBox {
	p.T.Helper()
	list, err := p.Boxes.List(p.Ctx, metav1.ListOptions{LabelSelector: p.labels()})
	if err != nil {
		p.T.Fatal(err)
	}
	boxes := map[string]modelv1.ModelBox{}
	for _, box := range list.Items {
		boxes[box.Name] = box
	}
	return boxes
}

func (p *stackPair) labels() string { return modelv1.StackLabel + "=" + p.stack }

func (p *stackPair) createStack(spec modelv1.ModelStackSpec, annotations map[string]string) {
	p.T.Helper()
	stack := &modelv1.ModelStack{ObjectMeta: metav1.ObjectMeta{Name: p.stack, Annotations: annotations}, Spec: spec}
	created, err := p.stacks().Create(p.Ctx, stack, metav1.CreateOptions{})
	if err != nil {
		p.T.Fatal(err)
	}
	p.wanted = created.Spec
}

// deleteStack deletes the stack, and waits until it does not exist.
func (p *stackPair) deleteStack(propagation metav1.DeletionPropagation) {
	p.T.Helper()
	if err := p.stacks().Delete(p.Ctx, p.stack, metav1.DeleteOptions{PropagationPolicy: &propagation}); err != nil {
		p.T.Fatal(err)
	}
	framework.Eventually(p.T, timeout, "stack "+p.stack+" is gone", func() error {
		_, err := p.stacks().Get(p.Ctx, p.stack, metav1.GetOptions{})
		return framework.CheckGone(err)
	})
}

func (p *stackPair) deleteBoxes() {
	p.T.Helper()
	if err := p.Boxes.DeleteCollection(p.Ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: p.labels()}); err != nil {
		p.T.Fatal(err)
	}
}

// set updates the stack to the spec with further changes.
func (p *stackPair) set(spec modelv1.ModelStackSpec, changes ...func(*modelv1.ModelStackSpec)) {
	p.T.Helper()
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		stack, err := p.stacks().Get(p.Ctx, p.stack, metav1.GetOptions{})
		if err != nil {
			return err
		}
		spec.DeepCopyInto(&stack.Spec)
		for _, change := range changes {
			change(&stack.Spec)
		}
		updated, err := p.stacks().Update(p.Ctx, stack, metav1.UpdateOptions{})
		if err == nil {
			p.wanted = updated.Spec
		}
		return err
	})
	if err != nil {
		p.T.Fatal(err)
	}
}

// await waits until check returns nil for the stack with the last status of its controller.
func (p *stackPair) await(what string, check func(*modelv1.ModelStack) error) *modelv1.ModelStack {
	p.T.Helper()
	var stack *modelv1.ModelStack
	framework.Eventually(p.T, timeout, "stack "+p.stack+" "+what, func() (err error) {
		if stack, err = p.stacks().Get(p.Ctx, p.stack, metav1.GetOptions{}); err != nil {
			return err
		}
		if stack.Status.ObservedGeneration != stack.Generation {
			return fmt.Errorf("its status is of generation %d, it is at %d", stack.Status.ObservedGeneration, stack.Generation)
		}
		return check(stack)
	})
	return stack
}

func (p *stackPair) awaitObserved() {
	p.T.Helper()
	p.await("is observed", func(*modelv1.ModelStack) error { return nil })
}

func (p *stackPair) awaitReady() *modelv1.ModelStack {
	p.T.Helper()
	return p.await("is Ready", checkStackReady)
}

func checkStackReady(stack *modelv1.ModelStack) error {
	ready := meta.FindStatusCondition(stack.Status.Conditions, modelv1.ConditionReady)
	if ready == nil || ready.Status != metav1.ConditionTrue || ready.ObservedGeneration != stack.Generation {
		return fmt.Errorf("it has %+v, and its components are %+v", ready, stack.Status.Components)
	}
	return nil
}

// expectConverged waits until all children match the stack, and checks that nothing was lost.
func (p *stackPair) expectConverged() {
	p.T.Helper()
	stack := p.await("has converged", func(stack *modelv1.ModelStack) error {
		if err := checkStackReady(stack); err != nil {
			return err
		}
		return p.checkChildren(stack)
	})
	if !apiequality.Semantic.DeepEqual(p.wanted, stack.Spec) {
		framework.ExpectEqual(p.T, "spec of the stack", p.wanted, stack.Spec)
	}
	if isOther := stack.UID != p.seen.stack; isOther != p.way.isOfNewOnes {
		p.T.Errorf("the stack is another one: %t", isOther)
	}
	if p.way.replacesPods || p.way.isOfNewOnes && !p.way.keepsChildren {
		return
	}
	for name, box := range p.boxes() {
		before, wasThere := p.seen.boxes[name]
		if !wasThere || !apiequality.Semantic.DeepEqual(before.Spec, box.Spec) {
			continue
		}
		framework.ExpectEqual(p.T, "UID of box "+name+", which says what it said", before.UID, box.UID)
		framework.ExpectEqual(p.T, "pods of box "+name+", which says what it said", p.seen.pods[name], p.PodUIDs(name))
	}
}

// stackChildResources are the resources of the children of stacks.
var stackChildResources = []schema.GroupVersionResource{
	{Group: "model.github.com", Version: "v1", Resource: "modelboxes"},
	{Version: "v1", Resource: "services"},
	{Group: "discovery.k8s.io", Version: "v1", Resource: "endpointslices"},
}

// checkChildren returns nil if the stack has exactly the children of its render.
func (p *stackPair) checkChildren(stack *modelv1.ModelStack) error {
	renderer, wanted := modelstackrender.NewRenderer(stack), map[string]bool{}
	for i := range stack.Spec.Components {
		children, err := renderer.Children(&stack.Spec.Components[i], false)
		if err != nil {
			return err
		}
		for _, child := range children {
			if err := p.CheckRendered(child); err != nil {
				return err
			}
			wanted[child.GetKind()+" "+child.GetName()] = true
		}
	}
	for _, resource := range stackChildResources {
		found, err := p.List(resource, p.labels())
		if err != nil {
			return err
		}
		for i := range found {
			if child := found[i].GetKind() + " " + found[i].GetName(); !wanted[child] {
				return fmt.Errorf("%s is left", child)
			}
		}
	}
	return nil
}
