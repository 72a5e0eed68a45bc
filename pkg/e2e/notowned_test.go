// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// maxTakeover is how long after the end of an obstacle a box may still be without its child. It takes two seconds at most
// on a machine that has nothing else to do.
const maxTakeover = 5 * time.Second

// TestNotOwned is about boxes whose name is taken by somebody else's object.
func TestNotOwned(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		kind   string
		create func(n *namespace) error
		read   func(n *namespace) (metav1.Object, error)
		delete func(n *namespace) error
	}{
		{
			kind: "Deployment",
			create: func(n *namespace) error {
				_, err := n.deployments.Create(n.ctx, foreignDeployment("web"), metav1.CreateOptions{})
				return err
			},
			read: func(n *namespace) (metav1.Object, error) { return n.deployments.Get(n.ctx, "web", metav1.GetOptions{}) },
			delete: func(n *namespace) error {
				return n.deployments.Delete(n.ctx, "web", metav1.DeleteOptions{})
			},
		},
		{
			kind: "Service",
			create: func(n *namespace) error {
				_, err := n.services.Create(n.ctx, foreignService("web"), metav1.CreateOptions{})
				return err
			},
			read: func(n *namespace) (metav1.Object, error) { return n.services.Get(n.ctx, "web", metav1.GetOptions{}) },
			delete: func(n *namespace) error {
				return n.services.Delete(n.ctx, "web", metav1.DeleteOptions{})
			},
		},
	} {
		t.Run("a "+test.kind+" of the box's name is left alone", func(t *testing.T) {
			t.Parallel()
			n := newNamespace(t)
			if err := test.create(n); err != nil {
				t.Fatal(err)
			}
			before := n.awaitSettled(test.read)

			n.create(newBox("web"))
			n.awaitNotOwned("web")
			n.awaitEvent("web", "NotOwned", test.kind+" named web")
			n.eventually("the table says so", func() error {
				if table := n.kubectl("get", "modelbox", "web"); !strings.Contains(table, "NotApplied") {
					return errors.New(table)
				}
				return nil
			})

			// A change of the box is no reason either.
			n.change("web", withImage(newImage))
			n.awaitNotOwned("web")
			after, err := test.read(n)
			if err != nil {
				t.Fatal(err)
			}
			expectEqual(t, "resourceVersion", before.GetResourceVersion(), after.GetResourceVersion())

			if err := test.delete(n); err != nil {
				t.Fatal(err)
			}
			freed, box := time.Now(), n.box("web")
			n.eventually("the box takes its place", func() error {
				now, err := test.read(n)
				if err != nil {
					return err
				}
				if owner := metav1.GetControllerOf(now); owner == nil || owner.UID != box.UID {
					return fmt.Errorf("it belongs to %v", owner)
				}
				return nil
			})
			if took := time.Since(freed); took > maxTakeover {
				t.Errorf("that took %s, want %s at most", took, maxTakeover)
			}
			n.awaitReady("web")
		})
	}
}

func (n *namespace) awaitNotOwned(box string) {
	n.t.Helper()
	n.awaitBox(box, "says that its name is taken", func(box *modelv1.ModelBox) error {
		return errors.Join(
			hasCondition(box, modelv1.ConditionApplied, metav1.ConditionFalse, modelv1.ReasonNotOwned),
			hasCondition(box, modelv1.ConditionReady, metav1.ConditionFalse, modelv1.ReasonNotApplied),
		)
	})
}

// awaitSettled waits until the cluster has written all it has to say about an object.
func (n *namespace) awaitSettled(read func(*namespace) (metav1.Object, error)) metav1.Object {
	n.t.Helper()
	var object metav1.Object
	n.eventually("the other object is settled", func() (err error) {
		if object, err = read(n); err != nil {
			return err
		}
		if deployment, ok := object.(*appsv1.Deployment); ok {
			return isComplete(deployment)
		}
		return nil
	})
	return object
}

// isComplete returns nil when the Deployment controller is done with a Deployment.
func isComplete(deployment *appsv1.Deployment) error {
	status := deployment.Status
	if status.ObservedGeneration != deployment.Generation || status.UpdatedReplicas != *deployment.Spec.Replicas ||
		status.Replicas != status.UpdatedReplicas || status.AvailableReplicas != status.UpdatedReplicas {
		return fmt.Errorf("its rollout goes on: %+v", status)
	}
	for _, condition := range status.Conditions {
		if condition.Type == appsv1.DeploymentProgressing && condition.Reason == "NewReplicaSetAvailable" {
			return nil
		}
	}
	return fmt.Errorf("its conditions are %+v", status.Conditions)
}

func foreignDeployment(name string) *appsv1.Deployment {
	labels := map[string]string{"app": "foreign"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "foreign", Image: "busybox:1.36"}}},
			},
		},
	}
}

func foreignService(name string) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.ServiceSpec{
			Selector: map[string]string{"app": "foreign"},
			Ports:    []corev1.ServicePort{{Port: 8080}},
		},
	}
}
