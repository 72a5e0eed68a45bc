// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// CreateBox creates a box. A server that has just started refuses boxes until its admission plugins have filled their caches.
func (n *Namespace) CreateBox(box *modelv1.ModelBox) *modelv1.ModelBox {
	n.T.Helper()
	var created *modelv1.ModelBox
	var err error
	n.Eventually("the admission of the server is ready", func() error {
		created, err = n.Boxes.Create(n.Ctx, box, metav1.CreateOptions{})
		if apierrors.IsForbidden(err) && strings.Contains(err.Error(), "not yet ready to handle request") {
			return err
		}
		return nil
	})
	if err != nil {
		n.T.Fatalf("creating box %s: %v", box.Name, err)
	}
	return created
}

// CreateReadyBox creates a box, waits until it is Ready, and returns it.
func (n *Namespace) CreateReadyBox(box *modelv1.ModelBox) *modelv1.ModelBox {
	n.T.Helper()
	n.CreateBox(box)
	return n.AwaitReady(box.Name)
}

// UpdateBox changes the spec of a stored box.
func (n *Namespace) UpdateBox(name string, change func(*modelv1.ModelBoxSpec)) *modelv1.ModelBox {
	n.T.Helper()
	var changed *modelv1.ModelBox
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		box, err := n.Boxes.Get(n.Ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(&box.Spec)
		changed, err = n.Boxes.Update(n.Ctx, box, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		n.T.Fatalf("changing box %s: %v", name, err)
	}
	return changed
}

// GetBox returns a stored box.
func (n *Namespace) GetBox(name string) *modelv1.ModelBox {
	n.T.Helper()
	box, err := n.Boxes.Get(n.Ctx, name, metav1.GetOptions{})
	if err != nil {
		n.T.Fatalf("reading box %s: %v", name, err)
	}
	return box
}

// ExpectNoBox checks that there is no box with the name.
func (n *Namespace) ExpectNoBox(name string) {
	n.T.Helper()
	_, err := n.Boxes.Get(n.Ctx, name, metav1.GetOptions{})
	if err := CheckGone(err); err != nil {
		n.T.Errorf("box %s: %v", name, err)
	}
}

// AwaitBox returns the box as soon as check returns nil for it.
func (n *Namespace) AwaitBox(name, what string, check func(*modelv1.ModelBox) error) *modelv1.ModelBox {
	n.T.Helper()
	var box *modelv1.ModelBox
	n.Eventually("box "+name+" "+what, func() (err error) {
		if box, err = n.Boxes.Get(n.Ctx, name, metav1.GetOptions{}); err != nil {
			return err
		}
		return check(box)
	})
	return box
}

// AwaitReady returns the box as soon as it is Ready with its current spec.
func (n *Namespace) AwaitReady(name string) *modelv1.ModelBox {
	n.T.Helper()
	return n.AwaitBox(name, "is Ready", func(box *modelv1.ModelBox) error {
		return CheckCondition(box, modelv1.ConditionReady, metav1.ConditionTrue, "")
	})
}

// AwaitResized waits until the box is Ready, and no resize in place is left.
func (n *Namespace) AwaitResized(name string) {
	n.T.Helper()
	n.AwaitBox(name, "is resized", func(box *modelv1.ModelBox) error {
		if box.Status.Resize != nil || box.Status.ObservedGeneration < box.Generation {
			return fmt.Errorf("the resize is %+v", box.Status.Resize)
		}
		return CheckCondition(box, modelv1.ConditionReady, metav1.ConditionTrue, modelv1.ReasonReady)
	})
}

// AwaitApplied waits until the children of the box match its current spec.
func (n *Namespace) AwaitApplied(box string) {
	n.T.Helper()
	n.AwaitBox(box, "is applied", func(box *modelv1.ModelBox) error {
		return CheckCondition(box, modelv1.ConditionApplied, metav1.ConditionTrue, "")
	})
}

// AwaitPaused waits until the status of the box has a change that waits for the end of its pause.
func (n *Namespace) AwaitPaused(box string) {
	n.T.Helper()
	n.AwaitBox(box, "says that it waits", func(box *modelv1.ModelBox) error {
		return CheckCondition(box, modelv1.ConditionReady, metav1.ConditionFalse, modelv1.ReasonPaused)
	})
}

// AwaitNotOwned waits until the status of the box reports that another object has the name of its child.
func (n *Namespace) AwaitNotOwned(box string) {
	n.T.Helper()
	n.AwaitBox(box, "says that its name is taken", func(box *modelv1.ModelBox) error {
		return errors.Join(
			CheckCondition(box, modelv1.ConditionApplied, metav1.ConditionFalse, modelv1.ReasonNotOwned),
			CheckCondition(box, modelv1.ConditionReady, metav1.ConditionFalse, modelv1.ReasonNotApplied),
		)
	})
}

// AwaitReadyCondition waits until the box has the Ready condition, with all of the words in its message.
func (n *Namespace) AwaitReadyCondition(name string, status metav1.ConditionStatus, reason string, words ...string) {
	n.T.Helper()
	n.AwaitBox(name, fmt.Sprintf("is Ready=%s, %s", status, reason), func(box *modelv1.ModelBox) error {
		if err := CheckCondition(box, modelv1.ConditionReady, status, reason); err != nil {
			return err
		}
		if ready := meta.FindStatusCondition(box.Status.Conditions, modelv1.ConditionReady); !ContainsAll(ready.Message, words) {
			return fmt.Errorf("its message is %q, want %q in it", ready.Message, words)
		}
		return nil
	})
}

// AwaitPods waits until the box is Ready with the number of pods.
func (n *Namespace) AwaitPods(box string, count int) {
	n.T.Helper()
	n.AwaitBox(box, fmt.Sprintf("is Ready with %d pods", count), func(box *modelv1.ModelBox) error {
		if len(box.Status.PodNames) != count {
			return fmt.Errorf("its pods are %q", box.Status.PodNames)
		}
		return CheckCondition(box, modelv1.ConditionReady, metav1.ConditionTrue, "")
	})
}

// CheckCondition returns nil if the box has the condition for its current generation. An empty reason matches any reason.
func CheckCondition(box *modelv1.ModelBox, conditionType string, status metav1.ConditionStatus, reason string) error {
	condition := meta.FindStatusCondition(box.Status.Conditions, conditionType)
	switch {
	case condition == nil:
		return fmt.Errorf("it has no condition %s", conditionType)
	case condition.ObservedGeneration != box.Generation:
		return fmt.Errorf("%s is of generation %d, the box of %d", conditionType, condition.ObservedGeneration, box.Generation)
	case condition.Status != status, reason != "" && condition.Reason != reason:
		return fmt.Errorf("%s is %s, reason %s: %s", conditionType, condition.Status, condition.Reason, condition.Message)
	}
	return nil
}
