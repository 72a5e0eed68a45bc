// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/tools/pager"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// list returns all objects of a resource, in all namespaces.
func (c *clients) list(ctx context.Context, resource schema.GroupVersionResource) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	err := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return c.dynamic.Resource(resource).List(ctx, options)
	}).EachListItem(ctx, metav1.ListOptions{}, func(object runtime.Object) error {
		objects = append(objects, object.(*unstructured.Unstructured))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", resource.GroupResource(), err)
	}
	return objects, nil
}

// addChildren finds what names a box as one of its owners, of whatever kind, and the pods that come of it. The garbage collector
// would find it, too.
func (c *clients) addChildren(ctx context.Context, exported []*exportedBox) error {
	byUID := map[types.UID]*exportedBox{}
	for _, box := range exported {
		byUID[box.UID] = box
	}
	resources, err := c.resourcesWithOwners(ctx, sets.KeySet(byUID))
	if err != nil {
		return err
	}
	for _, resource := range resources {
		objects, err := c.list(ctx, resource)
		if err != nil {
			return err
		}
		for _, object := range objects {
			for _, reference := range object.GetOwnerReferences() {
				if box := byUID[reference.UID]; box != nil && !slices.Contains(box.children, object) {
					box.children = append(box.children, object)
				}
			}
		}
	}
	return c.addPods(ctx, exported)
}

// resourcesWithOwners returns the resources of which some object names one of these owners.
func (c *clients) resourcesWithOwners(ctx context.Context, owners sets.Set[types.UID]) ([]schema.GroupVersionResource, error) {
	lists, err := discovery.ServerPreferredNamespacedResources(c.discovery)
	if err != nil {
		return nil, fmt.Errorf("finding the resources of the cluster: %w", err)
	}
	lists = discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "patch", "delete"}}, lists)
	found := sets.New[schema.GroupVersionResource]()
	seen := sets.New[types.UID]()
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for i := range list.APIResources {
			resource := version.WithResource(list.APIResources[i].Name)
			if resource.Group == modelv1.GroupName {
				continue
			}
			err := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
				return c.metadata.Resource(resource).List(ctx, options)
			}).EachListItem(ctx, metav1.ListOptions{}, func(object runtime.Object) error {
				metadata, err := meta.Accessor(object)
				if err != nil {
					return err
				}
				isOwned := slices.ContainsFunc(metadata.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return owners.Has(r.UID) })
				if isOwned && !seen.Has(metadata.GetUID()) {
					seen.Insert(metadata.GetUID())
					found.Insert(resource)
				}
				return nil
			})
			if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsMethodNotSupported(err) {
				return nil, fmt.Errorf("listing %s: %w", resource.GroupResource(), err)
			}
		}
	}
	sorted := found.UnsortedList()
	slices.SortFunc(sorted, func(a, b schema.GroupVersionResource) int { return strings.Compare(a.String(), b.String()) })
	return sorted, nil
}

// addPods finds the pods of the children.
func (c *clients) addPods(ctx context.Context, exported []*exportedBox) error {
	owners := map[types.UID]*exportedBox{}
	for _, box := range exported {
		for _, child := range box.children {
			owners[child.GetUID()] = box
		}
	}
	replicaSets, err := c.list(ctx, appsv1.SchemeGroupVersion.WithResource("replicasets"))
	if err != nil {
		return err
	}
	for _, set := range replicaSets {
		if controller := metav1.GetControllerOfNoCopy(set); controller != nil && owners[controller.UID] != nil {
			owners[set.GetUID()] = owners[controller.UID]
		}
	}
	objects, err := c.list(ctx, corev1.SchemeGroupVersion.WithResource("pods"))
	if err != nil {
		return err
	}
	for _, object := range objects {
		controller := metav1.GetControllerOfNoCopy(object)
		if controller == nil || owners[controller.UID] == nil || object.GetDeletionTimestamp() != nil {
			continue
		}
		p := &corev1.Pod{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, p); err != nil {
			return fmt.Errorf("reading pod %s/%s: %w", object.GetNamespace(), object.GetName(), err)
		}
		box := owners[controller.UID]
		box.Pods = append(box.Pods, pod{Name: p.Name, UID: p.UID, Restarts: restartsOf(p)})
	}
	for _, box := range exported {
		slices.SortFunc(box.Pods, func(a, b pod) int { return strings.Compare(a.Name, b.Name) })
	}
	return nil
}

func restartsOf(p *corev1.Pod) int32 {
	var restarts int32
	for i := range p.Status.ContainerStatuses {
		restarts += p.Status.ContainerStatuses[i].RestartCount
	}
	return restarts
}

// child returns the child of the kind that is called as the box, nil where there is none.
func (b *exportedBox) child(kind schema.GroupVersionKind) *unstructured.Unstructured {
	for _, child := range b.children {
		if child.GroupVersionKind() == kind && child.GetName() == b.Name {
			return child
		}
	}
	return nil
}

var (
	deploymentKind = appsv1.SchemeGroupVersion.WithKind("Deployment")
	serviceKind    = corev1.SchemeGroupVersion.WithKind("Service")
)

// deployment returns the Deployment of the box as it was exported, nil where it has none.
func (b *exportedBox) deployment() (*appsv1.Deployment, error) {
	child := b.child(deploymentKind)
	if child == nil {
		return nil, nil
	}
	deployment := &appsv1.Deployment{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(child.Object, deployment); err != nil {
		return nil, fmt.Errorf("reading Deployment %s: %w", b, err)
	}
	return deployment, nil
}
