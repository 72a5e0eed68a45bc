// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// GetDeployment returns a Deployment.
func (n *Namespace) GetDeployment(name string) *appsv1.Deployment {
	n.T.Helper()
	deployment, err := n.Deployments.Get(n.Ctx, name, metav1.GetOptions{})
	if err != nil {
		n.T.Fatalf("reading Deployment %s: %v", name, err)
	}
	return deployment
}

// AwaitDeployment returns the Deployment as soon as check returns nil for it.
func (n *Namespace) AwaitDeployment(name, what string, check func(*appsv1.Deployment) error) *appsv1.Deployment {
	n.T.Helper()
	var deployment *appsv1.Deployment
	n.Eventually("Deployment "+name+" "+what, func() (err error) {
		if deployment, err = n.Deployments.Get(n.Ctx, name, metav1.GetOptions{}); err != nil {
			return err
		}
		return check(deployment)
	})
	return deployment
}

// OtherManager is the field manager of changes by tests.
const OtherManager = "another-client"

// PatchDeployment applies a JSON patch to a Deployment as OtherManager.
func (n *Namespace) PatchDeployment(name, patch string) *appsv1.Deployment {
	n.T.Helper()
	patched, err := n.Deployments.Patch(n.Ctx, name, types.JSONPatchType, []byte(patch), metav1.PatchOptions{FieldManager: OtherManager})
	if err != nil {
		n.T.Fatalf("changing Deployment %s: %v", name, err)
	}
	return patched
}

// CheckRolledOut returns nil if the rollout of a Deployment is complete.
func CheckRolledOut(deployment *appsv1.Deployment) error {
	status := deployment.Status
	if status.ObservedGeneration != deployment.Generation || status.UpdatedReplicas != *deployment.Spec.Replicas ||
		status.Replicas != status.UpdatedReplicas || status.AvailableReplicas != status.UpdatedReplicas {
		return fmt.Errorf("its rollout is in progress: %+v", status)
	}
	for _, condition := range status.Conditions {
		if condition.Type == appsv1.DeploymentProgressing && condition.Reason == "NewReplicaSetAvailable" {
			return nil
		}
	}
	return fmt.Errorf("its conditions are %+v", status.Conditions)
}

// CheckImage returns nil if the main container has the image.
func CheckImage(deployment *appsv1.Deployment, image string) error {
	if found := deployment.Spec.Template.Spec.Containers[0].Image; found != image {
		return fmt.Errorf("its image is %s, want %s", found, image)
	}
	return nil
}

// ContainerNames returns the names of the containers in their order.
func ContainerNames(containers []corev1.Container) []string {
	var names []string
	for _, container := range containers {
		names = append(names, container.Name)
	}
	return names
}

// GetService returns a Service.
func (n *Namespace) GetService(name string) *corev1.Service {
	n.T.Helper()
	service, err := n.Services.Get(n.Ctx, name, metav1.GetOptions{})
	if err != nil {
		n.T.Fatalf("reading Service %s: %v", name, err)
	}
	return service
}

// AwaitService returns the Service as soon as check returns nil for it.
func (n *Namespace) AwaitService(name, what string, check func(*corev1.Service) error) *corev1.Service {
	n.T.Helper()
	var service *corev1.Service
	n.Eventually("Service "+name+" "+what, func() (err error) {
		if service, err = n.Services.Get(n.Ctx, name, metav1.GetOptions{}); err != nil {
			return err
		}
		return check(service)
	})
	return service
}

// LivePods returns the pods of a box that are not being deleted.
func (n *Namespace) LivePods(box string) ([]corev1.Pod, error) {
	pods, err := n.Pods.List(n.Ctx, metav1.ListOptions{LabelSelector: modelv1.SelectorLabel + "=" + box})
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

// CheckChildrenGone returns nil if box "web" has no children.
func (n *Namespace) CheckChildrenGone() error {
	if _, err := n.Deployments.Get(n.Ctx, "web", metav1.GetOptions{}); CheckGone(err) != nil {
		return fmt.Errorf("the Deployment: %w", CheckGone(err))
	}
	if _, err := n.Services.Get(n.Ctx, "web", metav1.GetOptions{}); CheckGone(err) != nil {
		return fmt.Errorf("the Service: %w", CheckGone(err))
	}
	pods, err := n.Pods.List(n.Ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	if len(pods.Items) > 0 {
		return fmt.Errorf("there are %d pods", len(pods.Items))
	}
	return nil
}
