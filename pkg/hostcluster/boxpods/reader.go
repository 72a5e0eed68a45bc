// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package boxpods tells which pods belong to a box: the pods that the workload of the box controls.
package boxpods

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// pageSize is how many objects of a namespace are read with one request.
const pageSize = 500

// Reader reads the workloads and pods of boxes from the cluster, with the permissions of the server. Its methods return the errors of
// the cluster, wrapped in what was being read, and nothing for objects that do not exist.
type Reader struct {
	client kubernetes.Interface
}

// NewReader returns a reader of the cluster that client reaches.
func NewReader(client kubernetes.Interface) *Reader {
	return &Reader{client}
}

// Workload returns the object that has the name of the box and the kind of its workload, also one that the box does not control. It
// returns nil if there is none.
func (r *Reader) Workload(ctx context.Context, box *modelv1.ModelBox) (metav1.Object, error) {
	var workload metav1.Object
	var err error
	apps, options := r.client.AppsV1(), metav1.GetOptions{}
	switch box.Spec.Workload {
	case modelv1.WorkloadStatefulSet:
		workload, err = apps.StatefulSets(box.Namespace).Get(ctx, box.Name, options)
	case modelv1.WorkloadDaemonSet:
		workload, err = apps.DaemonSets(box.Namespace).Get(ctx, box.Name, options)
	case modelv1.WorkloadJob:
		workload, err = r.client.BatchV1().Jobs(box.Namespace).Get(ctx, box.Name, options)
	case modelv1.WorkloadCronJob:
		workload, err = r.client.BatchV1().CronJobs(box.Namespace).Get(ctx, box.Name, options)
	default:
		workload, err = apps.Deployments(box.Namespace).Get(ctx, box.Name, options)
	}
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading %s %s: %w", box.Spec.Workload, box.Name, err)
	default:
		return workload, nil
	}
}

// OwnWorkload returns the workload that the box controls. It returns nil if there is none.
func (r *Reader) OwnWorkload(ctx context.Context, box *modelv1.ModelBox) (metav1.Object, error) {
	workload, err := r.Workload(ctx, box)
	if err != nil || workload == nil || !render.IsControlledBy(workload, box, modelboxrender.Kind.GroupKind()) {
		return nil, err
	}
	return workload, nil
}
