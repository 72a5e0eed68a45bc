// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

const (
	image    = "nginx:1.7.9"
	newImage = "nginx:1.8"
)

// newBox is a small box: one pod, one port. changes make it the box that a test is about.
func newBox(name string, changes ...func(*modelv1.ModelBoxSpec)) *modelv1.ModelBox {
	box := &modelv1.ModelBox{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: modelv1.ModelBoxSpec{
			Image:           image,
			Replicas:        ptr.To[int32](1),
			MinReadySeconds: ptr.To[int32](1),
			Ports:           []corev1.ServicePort{{Port: 80}},
		},
	}
	for _, change := range changes {
		change(&box.Spec)
	}
	return box
}

func withReplicas(replicas int32) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) { spec.Replicas = &replicas }
}

func withImage(image string) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) { spec.Image = image }
}

func withPorts(ports ...corev1.ServicePort) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) { spec.Ports = ports }
}

func (n *namespace) create(box *modelv1.ModelBox) *modelv1.ModelBox {
	n.t.Helper()
	created, err := n.boxes.Create(n.ctx, box, metav1.CreateOptions{})
	if err != nil {
		n.t.Fatalf("creating box %s: %v", box.Name, err)
	}
	return created
}

// createReady creates a box and returns it when it is Ready.
func (n *namespace) createReady(box *modelv1.ModelBox) *modelv1.ModelBox {
	n.t.Helper()
	n.create(box)
	return n.awaitReady(box.Name)
}

// change changes the spec of a stored box.
func (n *namespace) change(name string, change func(*modelv1.ModelBoxSpec)) *modelv1.ModelBox {
	n.t.Helper()
	var changed *modelv1.ModelBox
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		box, err := n.boxes.Get(n.ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(&box.Spec)
		changed, err = n.boxes.Update(n.ctx, box, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		n.t.Fatalf("changing box %s: %v", name, err)
	}
	return changed
}

func (n *namespace) box(name string) *modelv1.ModelBox {
	n.t.Helper()
	box, err := n.boxes.Get(n.ctx, name, metav1.GetOptions{})
	if err != nil {
		n.t.Fatalf("reading box %s: %v", name, err)
	}
	return box
}

// awaitBox returns the box as soon as check returns nil for it.
func (n *namespace) awaitBox(name, what string, check func(*modelv1.ModelBox) error) *modelv1.ModelBox {
	n.t.Helper()
	var box *modelv1.ModelBox
	n.eventually("box "+name+" "+what, func() (err error) {
		if box, err = n.boxes.Get(n.ctx, name, metav1.GetOptions{}); err != nil {
			return err
		}
		return check(box)
	})
	return box
}

// awaitReady returns the box as soon as it is what its present spec says.
func (n *namespace) awaitReady(name string) *modelv1.ModelBox {
	n.t.Helper()
	return n.awaitBox(name, "is Ready", func(box *modelv1.ModelBox) error {
		return hasCondition(box, modelv1.ConditionReady, metav1.ConditionTrue, "")
	})
}

// hasCondition returns nil when the box has the condition for its present generation. An empty reason is any.
func hasCondition(box *modelv1.ModelBox, conditionType string, status metav1.ConditionStatus, reason string) error {
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

func (n *namespace) deployment(name string) *appsv1.Deployment {
	n.t.Helper()
	deployment, err := n.deployments.Get(n.ctx, name, metav1.GetOptions{})
	if err != nil {
		n.t.Fatalf("reading Deployment %s: %v", name, err)
	}
	return deployment
}

// awaitDeployment returns the Deployment as soon as check returns nil for it.
func (n *namespace) awaitDeployment(name, what string, check func(*appsv1.Deployment) error) *appsv1.Deployment {
	n.t.Helper()
	var deployment *appsv1.Deployment
	n.eventually("Deployment "+name+" "+what, func() (err error) {
		if deployment, err = n.deployments.Get(n.ctx, name, metav1.GetOptions{}); err != nil {
			return err
		}
		return check(deployment)
	})
	return deployment
}

func (n *namespace) service(name string) *corev1.Service {
	n.t.Helper()
	service, err := n.services.Get(n.ctx, name, metav1.GetOptions{})
	if err != nil {
		n.t.Fatalf("reading Service %s: %v", name, err)
	}
	return service
}

// awaitService returns the Service as soon as check returns nil for it.
func (n *namespace) awaitService(name, what string, check func(*corev1.Service) error) *corev1.Service {
	n.t.Helper()
	var service *corev1.Service
	n.eventually("Service "+name+" "+what, func() (err error) {
		if service, err = n.services.Get(n.ctx, name, metav1.GetOptions{}); err != nil {
			return err
		}
		return check(service)
	})
	return service
}

// podsOf returns the pods of a box that are not on their way out.
func (n *namespace) podsOf(box string) ([]corev1.Pod, error) {
	pods, err := n.pods.List(n.ctx, metav1.ListOptions{LabelSelector: modelv1.SelectorLabel + "=" + box})
	if err != nil {
		return nil, err
	}
	var live []corev1.Pod
	for _, pod := range pods.Items {
		if pod.DeletionTimestamp == nil {
			live = append(live, pod)
		}
	}
	return live, nil
}

func (n *namespace) eventsAbout(box string) []eventsv1.Event {
	n.t.Helper()
	events, err := n.plane.kube.EventsV1().Events(n.name).List(n.ctx, metav1.ListOptions{})
	if err != nil {
		n.t.Fatal(err)
	}
	return slices.DeleteFunc(events.Items, func(event eventsv1.Event) bool {
		return event.Regarding.Kind != "ModelBox" || event.Regarding.Name != box
	})
}

// awaitEvent waits for an event about the box whose note contains all of the words.
func (n *namespace) awaitEvent(box, reason string, words ...string) {
	n.t.Helper()
	n.eventually("event "+reason+" about box "+box, func() error {
		var seen []string
		for _, event := range n.eventsAbout(box) {
			if event.Reason == reason && containsAll(event.Note, words) {
				return nil
			}
			seen = append(seen, event.Reason+": "+event.Note)
		}
		return fmt.Errorf("no such event with %q; there are:\n%s", words, strings.Join(seen, "\n"))
	})
}

func containsAll(text string, words []string) bool {
	for _, word := range words {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// expectGone returns nil for the error of reading something that is not there.
func expectGone(err error) error {
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err == nil:
		return errors.New("it is there")
	default:
		return err
	}
}
