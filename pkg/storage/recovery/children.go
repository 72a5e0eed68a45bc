// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// childrenPerPage bounds the memory that a list of children takes. The record of a box is up to 200 KiB.
const childrenPerPage = 100

var (
	// workloads are the kinds of children that boxes are recorded on.
	workloads = []schema.GroupVersionResource{
		appsv1.SchemeGroupVersion.WithResource("deployments"),
		appsv1.SchemeGroupVersion.WithResource("statefulsets"),
		appsv1.SchemeGroupVersion.WithResource("daemonsets"),
	}
	configMaps = corev1.SchemeGroupVersion.WithResource("configmaps")
	services   = corev1.SchemeGroupVersion.WithResource("services")
)

// child is one that lives and has a box for its controller.
type child struct {
	*metav1.PartialObjectMetadata
	resource string
	owner    metav1.OwnerReference
}

// box returns the name of the box that controls the child.
func (c child) box() types.NamespacedName {
	return types.NamespacedName{Namespace: c.Namespace, Name: c.owner.Name}
}

// record returns the box as it was recorded on the child, or why it cannot be had.
func (c child) record() (*modelv1.ModelBox, error) {
	value, isRecorded := c.Annotations[modelv1.RecordAnnotation]
	if !isRecorded {
		return nil, fmt.Errorf("it has no annotation %s", modelv1.RecordAnnotation)
	}
	box, err := modelboxrender.ReadRecord(value)
	switch {
	case err != nil:
		return nil, fmt.Errorf("its annotation %s cannot be read: %w", modelv1.RecordAnnotation, err)
	case box.Namespace != c.Namespace || box.Name != c.owner.Name || box.UID != c.owner.UID:
		return nil, fmt.Errorf("its annotation %s is of box %s/%s with UID %s and not of the one that controls it",
			modelv1.RecordAnnotation, box.Namespace, box.Name, box.UID)
	default:
		return box, nil
	}
}

// eachWorkload calls visit for every workload.
func eachWorkload(ctx context.Context, cluster metadata.Interface, visit func(child) error) error {
	for _, resource := range workloads {
		if err := eachChild(ctx, cluster, resource, visit); err != nil {
			return err
		}
	}
	return nil
}

// eachChild calls visit for every child of a kind. Those that are being deleted are none any more.
func eachChild(ctx context.Context, cluster metadata.Interface, resource schema.GroupVersionResource, visit func(child) error) error {
	options := metav1.ListOptions{LabelSelector: render.ManagedByLabel + "=" + render.ManagedBy, Limit: childrenPerPage}
	for {
		list, err := cluster.Resource(resource).List(ctx, options)
		if err != nil {
			return fmt.Errorf("listing the cluster's %s: %w", resource.Resource, err)
		}
		for i := range list.Items {
			object := &list.Items[i]
			owner := modelboxrender.ControllingBox(object)
			if owner == nil || object.DeletionTimestamp != nil {
				continue
			}
			if err := visit(child{object, resource.Resource, *owner}); err != nil {
				return err
			}
		}
		if list.Continue == "" {
			return nil
		}
		options.Continue = list.Continue
	}
}
