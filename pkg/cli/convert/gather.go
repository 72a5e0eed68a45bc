// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/adopt"
)

// addServices finds the Services that select the pods of a Deployment.
func (o *Options) addServices(ctx context.Context, c *conversion) error {
	list, err := o.client.CoreV1().Services(c.live.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing the Services of namespace %s: %w", c.live.Namespace, err)
	}
	for i := range list.Items {
		service := &list.Items[i]
		selector := labels.SelectorFromSet(service.Spec.Selector)
		if selector.Empty() || !selector.Matches(labels.Set(c.live.Spec.Template.Labels)) {
			continue
		}
		if service.Name == c.live.Name {
			others, err := o.podsOfOthers(ctx, service, c.live)
			if err != nil {
				return err
			}
			if len(others) > 0 {
				c.add(note, "Service %s is not adopted: it also selects other pods, such as %s", service.Name, others[0])
				continue
			}
		}
		c.services = append(c.services, *service)
	}
	return nil
}

// podsOfOthers returns the pods that a Service selects, except for the pods of the Deployment.
func (o *Options) podsOfOthers(ctx context.Context, service *corev1.Service, live *appsv1.Deployment) ([]string, error) {
	sets, err := o.rewriter().ReplicaSetsOf(ctx, live)
	if err != nil {
		return nil, err
	}
	pods, err := o.client.CoreV1().Pods(service.Namespace).List(ctx, metav1.ListOptions{LabelSelector: labels.FormatLabels(service.Spec.Selector)})
	if err != nil {
		return nil, fmt.Errorf("listing the pods of Service %s: %w", service.Name, err)
	}
	var others []string
	for i := range pods.Items {
		pod, isOwn := &pods.Items[i], false
		for _, set := range sets {
			isOwn = isOwn || metav1.IsControlledBy(pod, set)
		}
		if !isOwn {
			others = append(others, pod.Name)
		}
	}
	return others, nil
}

func (o *Options) withDefaults(ctx context.Context, deployment *appsv1.Deployment) (*appsv1.Deployment, error) {
	return adopt.WithDefaults(ctx, o.client, fieldManager, deployment)
}

// judgeBox asks the server what it says of the box, without storing it.
func (o *Options) judgeBox(ctx context.Context, c *conversion) error {
	box, err := c.typed()
	if err != nil {
		return err
	}
	_, err = o.boxes.ModelV1().ModelBoxes(box.Namespace).Create(ctx, box, metav1.CreateOptions{FieldManager: fieldManager, DryRun: []string{metav1.DryRunAll}})
	switch {
	case apierrors.IsInvalid(err), apierrors.IsAlreadyExists(err), apierrors.IsForbidden(err):
		c.add(refused, "%v", err)
	case err != nil:
		return fmt.Errorf("creating box %s with dry-run: %w", box.Name, err)
	}
	return nil
}
