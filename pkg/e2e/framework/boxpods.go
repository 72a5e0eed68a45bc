// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"context"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// BoxPods are the pods of all boxes of a control plane that starts later, because its server needs the URL of the Prometheus that
// scrapes the pods.
type BoxPods struct{ plane atomic.Pointer[ControlPlane] }

// SetPlane sets the control plane that has the pods.
func (p *BoxPods) SetPlane(plane *ControlPlane) { p.plane.Store(plane) }

// List returns the pods, and none without a control plane.
func (p *BoxPods) List(ctx context.Context) ([]corev1.Pod, error) {
	plane := p.plane.Load()
	if plane == nil {
		return nil, nil
	}
	pods, err := plane.KubeClient.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{LabelSelector: modelv1.SelectorLabel})
	if err != nil {
		return nil, err
	}
	return pods.Items, nil
}
