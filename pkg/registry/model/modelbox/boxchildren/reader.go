// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package boxchildren reads the children of a box from the cluster, for a request about the box. The controller of boxes, which reads
// the children of all boxes all the time, has caches instead.
package boxchildren

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/hostcluster"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/hostcluster/boxpods"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// pageSize is how many objects of a namespace are read with one request.
const pageSize = 500

// Reader reads the children and the pods of boxes with the permissions of the server. Its methods return the errors of the cluster,
// wrapped in what was being read, and nothing for objects that do not exist.
type Reader struct {
	*boxpods.Reader
	client     kubernetes.Interface
	host       *hostcluster.Cluster
	podWatches podWatches
}

// NewReader returns a reader of the cluster that client reaches, whose fields host knows.
func NewReader(client kubernetes.Interface, host *hostcluster.Cluster) *Reader {
	return &Reader{Reader: boxpods.NewReader(client), client: client, host: host}
}

// Known returns a rendered child without the fields that the cluster does not know, as it is applied.
func (r *Reader) Known(child *unstructured.Unstructured) *unstructured.Unstructured {
	return r.host.Known(child)
}

// Live returns what decides about the children of the box beside that: of the objects that have the names of its workload and of its
// claims, the box's own, and those that it would take over, where mayGet is true. It costs a request for the workload, one for each
// claim, and one for every 500 autoscalers of the namespace.
func (r *Reader) Live(ctx context.Context, box *modelv1.ModelBox, mayGet func(resource schema.GroupVersionResource, name string) bool) (modelboxrender.Live, error) {
	live := modelboxrender.Live{Claims: map[string]*corev1.PersistentVolumeClaim{}}
	workload, err := r.Workload(ctx, box)
	if err != nil {
		return live, err
	}
	if workload != nil && (isControlledBy(workload, box) || wouldTakeOver(box, workload) && mayGet(workloadResource(box), box.Name)) {
		live.Workload = workload
		if live.IsScaled, err = r.isScaled(ctx, box); err != nil {
			return live, err
		}
	}
	for _, name := range modelboxrender.ClaimNames(box) {
		claim, err := r.client.CoreV1().PersistentVolumeClaims(box.Namespace).Get(ctx, name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return live, fmt.Errorf("reading PersistentVolumeClaim %s: %w", name, err)
		case isControlledBy(claim, box) || isRetained(claim, box) || wouldTakeOver(box, claim) && mayGet(claimResource, name):
			live.Claims[name] = claim
		}
	}
	return live, nil
}

// isScaled returns whether an autoscaler scales the workload of the box, also one that does not belong to the box.
func (r *Reader) isScaled(ctx context.Context, box *modelv1.ModelBox) (bool, error) {
	workload := modelboxrender.WorkloadKind(box).GroupKind()
	options := metav1.ListOptions{Limit: pageSize}
	for {
		page, err := r.client.AutoscalingV2().HorizontalPodAutoscalers(box.Namespace).List(ctx, options)
		if err != nil {
			return false, fmt.Errorf("listing the HorizontalPodAutoscalers: %w", err)
		}
		for i := range page.Items {
			if kind, name, ok := render.ScaleTarget(&page.Items[i]); ok && kind == workload && name == box.Name {
				return true, nil
			}
		}
		if options.Continue = page.Continue; options.Continue == "" {
			return false, nil
		}
	}
}
