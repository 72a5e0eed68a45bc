// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
	modelclient "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/typed/model/v1"
)

// testStack is a namespace with a stack, usually shop.
type testStack struct {
	*framework.Namespace
	stacks modelclient.ModelStackInterface
	stack  string
}

// component returns a component with a box that is ready soon, and with dependencies.
func component(name string, dependsOn ...string) modelv1.ModelStackComponent {
	box := framework.NewBox(name).Spec
	box.Replicas, box.MinReadySeconds = nil, ptr.To[int32](0)
	return modelv1.ModelStackComponent{Name: name, BoxName: name, DependsOn: dependsOn, Box: &box}
}

// external returns an external component.
func external(name, host string) modelv1.ModelStackComponent {
	return modelv1.ModelStackComponent{Name: name, BoxName: name, External: &modelv1.ModelStackExternal{Host: host, Port: 80}}
}

func createStack(t *testing.T, components ...modelv1.ModelStackComponent) *testStack {
	t.Helper()
	return createStackIn(framework.NewNamespace(t), components...)
}

func createStackIn(n *framework.Namespace, components ...modelv1.ModelStackComponent) *testStack {
	n.T.Helper()
	return createStackNamed(n, "shop", components...)
}

func createStackNamed(n *framework.Namespace, name string, components ...modelv1.ModelStackComponent) *testStack {
	n.T.Helper()
	s := &testStack{Namespace: n, stack: name, stacks: n.ControlPlane.ModelClient.ModelV1().ModelStacks(n.Name)}
	stack := &modelv1.ModelStack{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: modelv1.ModelStackSpec{Components: components}}
	if _, err := s.stacks.Create(n.Ctx, stack, metav1.CreateOptions{}); err != nil {
		n.T.Fatal(err)
	}
	return s
}

// update changes the spec of the stack.
func (s *testStack) update(change func(components []modelv1.ModelStackComponent) []modelv1.ModelStackComponent) {
	s.T.Helper()
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		stack, err := s.stacks.Get(s.Ctx, s.stack, metav1.GetOptions{})
		if err != nil {
			return err
		}
		stack.Spec.Components = change(stack.Spec.Components)
		_, err = s.stacks.Update(s.Ctx, stack, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		s.T.Fatal(err)
	}
}

// await waits until check returns nil for the stack with the last status of its controller.
func (s *testStack) await(what string, check func(*modelv1.ModelStack) error) {
	s.T.Helper()
	s.Eventually("the stack "+what, func() error {
		stack, err := s.stacks.Get(s.Ctx, s.stack, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if stack.Status.ObservedGeneration != stack.Generation {
			return fmt.Errorf("its status is of generation %d, it is at %d", stack.Status.ObservedGeneration, stack.Generation)
		}
		return check(stack)
	})
}

func (s *testStack) awaitReady() {
	s.T.Helper()
	s.awaitCondition(modelv1.ConditionReady, metav1.ConditionTrue, modelv1.ReasonReady)
}

func (s *testStack) awaitCondition(conditionType string, status metav1.ConditionStatus, reason string) {
	s.T.Helper()
	s.await(fmt.Sprintf("is %s=%s, %s", conditionType, status, reason), func(stack *modelv1.ModelStack) error {
		condition := meta.FindStatusCondition(stack.Status.Conditions, conditionType)
		if condition == nil || condition.Status != status || condition.Reason != reason {
			return fmt.Errorf("it has %+v", condition)
		}
		return nil
	})
}

// awaitState waits until a component is in a state and waits for these components.
func (s *testStack) awaitState(name string, state modelv1.ComponentState, waitingFor ...string) {
	s.T.Helper()
	s.await(fmt.Sprintf("has component %s in state %s", name, state), func(stack *modelv1.ModelStack) error {
		for _, component := range stack.Status.Components {
			if component.Name == name && component.State == state && slices.Equal(component.WaitingFor, waitingFor) {
				return nil
			}
		}
		return fmt.Errorf("its components are %+v", stack.Status.Components)
	})
}

// history has the changes of boxes in their order, such as "DELETED web".
type history struct {
	mu      sync.Mutex
	changes []string
}

// watchBoxes records the description of each change of a box. It ignores empty and unchanged descriptions.
func (s *testStack) watchBoxes(describe func(change watch.EventType, box *modelv1.ModelBox) string) *history {
	s.T.Helper()
	list, err := s.Boxes.List(s.Ctx, metav1.ListOptions{})
	if err != nil {
		s.T.Fatal(err)
	}
	changes, err := s.Boxes.Watch(s.Ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	if err != nil {
		s.T.Fatal(err)
	}
	h := &history{}
	go func() {
		for change := range changes.ResultChan() {
			box, ok := change.Object.(*modelv1.ModelBox)
			if !ok {
				continue
			}
			if text := describe(change.Type, box); text != "" {
				h.mu.Lock()
				if !slices.Contains(h.changes, text) {
					h.changes = append(h.changes, text)
				}
				h.mu.Unlock()
			}
		}
	}()
	s.T.Cleanup(changes.Stop)
	return h
}

// expect waits until exactly these changes have happened in this order.
func (s *testStack) expect(h *history, want ...string) {
	s.T.Helper()
	s.Eventually(fmt.Sprintf("the boxes have changed: %q", want), func() error {
		h.mu.Lock()
		defer h.mu.Unlock()
		if !slices.Equal(h.changes, want) {
			return fmt.Errorf("they have changed: %q", h.changes)
		}
		return nil
	})
}

// boxNames returns the names of the existing boxes.
func (s *testStack) boxNames() []string {
	s.T.Helper()
	boxes, err := s.Boxes.List(s.Ctx, metav1.ListOptions{})
	if err != nil {
		s.T.Fatal(err)
	}
	var names []string
	for _, box := range boxes.Items {
		names = append(names, box.Name)
	}
	return names
}

func isReady(box *modelv1.ModelBox) bool {
	return framework.CheckCondition(box, modelv1.ConditionReady, metav1.ConditionTrue, "") == nil
}
