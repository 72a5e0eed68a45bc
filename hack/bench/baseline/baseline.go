// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package baseline is the limit: a client that writes the children of boxes and their status once each, as a controller must, and
// reads nothing.
package baseline

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/boxes"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/load"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/testbed"
)

// Children are the children that a controller has created for one box.
type Children struct {
	Deployment *appsv1.Deployment
	Service    *corev1.Service
}

// Observe returns the children of a box that a controller has created, as templates for the children of other boxes.
func Observe(ctx context.Context, client kubernetes.Interface, namespace, box string) (*Children, error) {
	deployment, err := client.AppsV1().Deployments(namespace).Get(ctx, box, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("reading the Deployment: %w", err)
	}
	service, err := client.CoreV1().Services(namespace).Get(ctx, box, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("reading the Service: %w", err)
	}
	deployment.Status = appsv1.DeploymentStatus{}
	service.Spec.ClusterIP, service.Spec.ClusterIPs = "", nil
	for _, meta := range []*metav1.ObjectMeta{&deployment.ObjectMeta, &service.ObjectMeta} {
		*meta = metav1.ObjectMeta{Labels: meta.Labels, Annotations: meta.Annotations}
	}
	return &Children{Deployment: deployment, Service: service}, nil
}

// Of returns the children of a box.
func (c *Children) Of(box *modelv1.ModelBox) (*appsv1.Deployment, *corev1.Service) {
	deployment, service := c.Deployment.DeepCopy(), c.Service.DeepCopy()
	deployment.Namespace, deployment.Name = box.Namespace, box.Name
	service.Namespace, service.Name = box.Namespace, box.Name
	deployment.Spec.Replicas = box.Spec.Replicas
	for _, labels := range []map[string]string{
		deployment.Labels, deployment.Spec.Selector.MatchLabels, deployment.Spec.Template.Labels, service.Labels, service.Spec.Selector,
	} {
		if _, found := labels[modelv1.SelectorLabel]; found {
			labels[modelv1.SelectorLabel] = box.Name
		}
	}
	return deployment, service
}

// Create creates the children of boxes, and nothing else. workers is the number of concurrent requests.
func Create(ctx context.Context, bed *testbed.Testbed, children *Children, stored []*modelv1.ModelBox, workers int) error {
	cluster, err := bed.UserClient()
	if err != nil {
		return err
	}
	_, err = load.Run(ctx, workers, len(stored), func(ctx context.Context, _, i int) error {
		return children.create(ctx, cluster, stored[i])
	})
	return err
}

func (c *Children) create(ctx context.Context, cluster kubernetes.Interface, box *modelv1.ModelBox) error {
	deployment, service := c.Of(box)
	if _, err := cluster.AppsV1().Deployments(box.Namespace).Create(ctx, deployment, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating a Deployment: %w", err)
	}
	if _, err := cluster.CoreV1().Services(box.Namespace).Create(ctx, service, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating a Service: %w", err)
	}
	return nil
}

// Write creates boxes, their children and their status. workers is the number of concurrent requests.
func Write(ctx context.Context, bed *testbed.Testbed, api boxes.API, children *Children, stored []*modelv1.ModelBox, workers int) error {
	cluster, err := bed.UserClient()
	if err != nil {
		return err
	}
	client, err := api.NewClient(bed.User)
	if err != nil {
		return err
	}
	_, err = load.Run(ctx, workers, len(stored), func(ctx context.Context, _, i int) error {
		box := stored[i]
		created := &modelv1.ModelBox{}
		if err := client.Post().Namespace(box.Namespace).Resource(boxes.Resource).Body(box).Do(ctx).Into(created); err != nil {
			return fmt.Errorf("creating a box: %w", err)
		}
		if err := children.create(ctx, cluster, box); err != nil {
			return err
		}
		created.Status = boxes.Converged(created)
		err := client.Put().Namespace(box.Namespace).Resource(boxes.Resource).Name(box.Name).SubResource("status").Body(created).Do(ctx).Error()
		if err != nil {
			return fmt.Errorf("writing a status: %w", err)
		}
		return nil
	})
	return err
}
