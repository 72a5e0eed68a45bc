// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"fmt"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/childkinds"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
	modelstackrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelstack"
)

const (
	// childrenPerPage limits the memory for a list of children. A record in an annotation has up to 240 KiB, and the metadata that
	// a user can write up to 1.5 MiB.
	childrenPerPage = 32
	// recordsPerPage is the same for the records of stacks, which have up to 1 MiB.
	recordsPerPage = 20
)

// managedSelector selects the objects that the controllers of this server create.
const managedSelector = render.ManagedByLabel + "=" + render.ManagedBy

// boxSelectors select the children of boxes, each child once. Another client may have changed one of the two labels while no controller
// restored it.
var boxSelectors = []string{
	managedSelector,
	modelv1.SelectorLabel + "," + render.ManagedByLabel + "!=" + render.ManagedBy,
}

var (
	services       = childkinds.Service.GroupVersionResource()
	endpointSlices = discoveryv1.SchemeGroupVersion.WithResource("endpointslices")
)

// resourcesFor returns the resources of the children of boxes that have the role in the recovery.
func resourcesFor(recovery childkinds.Recovery) []schema.GroupVersionResource {
	var resources []schema.GroupVersionResource
	for _, kind := range childkinds.All() {
		if kind.Recovery == recovery {
			resources = append(resources, kind.GroupVersionResource())
		}
	}
	return resources
}

// cluster reads children in the host cluster.
type cluster struct {
	kube kubernetes.Interface
	// metadata reads only the metadata of children.
	metadata metadata.Interface
	// namespace limits the children to one namespace, empty for all namespaces.
	namespace string
}

// in returns the cluster limited to one namespace.
func (c *cluster) in(namespace string) *cluster {
	return &cluster{kube: c.kube, metadata: c.metadata, namespace: namespace}
}

// child is an object that a box, a stack or a Network controls, and that is not being deleted.
type child struct {
	metav1.Object
	resource string
	owner    metav1.OwnerReference
}

// String returns the child as messages name it, such as deployments shop/web.
func (c child) String() string {
	return fmt.Sprintf("%s %s/%s", c.resource, c.GetNamespace(), c.GetName())
}

// ownerName returns the name of the object that controls the child.
func (c child) ownerName() types.NamespacedName {
	return types.NamespacedName{Namespace: c.GetNamespace(), Name: c.owner.Name}
}

// recordOn returns the object that controls the child from its record on the child. It returns an error if the record cannot be
// read or is the record of another object.
func (k *kind) recordOn(c child) (metav1.Object, error) {
	record, err := k.readRecord(c.Object)
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot read its record: %w", err)
	case record.GetNamespace() != c.GetNamespace() || record.GetName() != c.owner.Name || record.GetUID() != c.owner.UID:
		return nil, fmt.Errorf("its record is the record of %s %s/%s with UID %s, which does not control it",
			k.noun, record.GetNamespace(), record.GetName(), record.GetUID())
	default:
		return record, nil
	}
}

// eachWorkload calls visit for the workloads of all boxes, but not for candidates and for the Jobs of spec.before and spec.after, which
// have no record.
func eachWorkload(ctx context.Context, cluster *cluster, owners *kind, visit func(child) error) error {
	for _, resource := range resourcesFor(childkinds.RecordsBox) {
		if err := eachOfBoxes(ctx, cluster, resource, ",!"+modelv1.CandidateLabel+",!"+modelv1.JobTypeLabel, owners, visit); err != nil {
			return err
		}
	}
	return nil
}

// eachChildOfBox calls visit for every child of a resource that a box controls.
func eachChildOfBox(ctx context.Context, cluster *cluster, resource schema.GroupVersionResource, visit func(child) error) error {
	return eachOfBoxes(ctx, cluster, resource, "", boxKind, visit)
}

// eachOfBoxes calls visit for every object of a resource that an owner controls, if both a selector of the children of boxes and the
// further requirements select it.
func eachOfBoxes(ctx context.Context, cluster *cluster, resource schema.GroupVersionResource, requirements string, owners *kind, visit func(child) error) error {
	for _, selector := range boxSelectors {
		if err := eachChild(ctx, cluster, resource, selector+requirements, owners, visit); err != nil {
			return err
		}
	}
	return nil
}

// eachChildOfStack calls visit for every child of a resource that a stack controls.
func eachChildOfStack(ctx context.Context, cluster *cluster, resource schema.GroupVersionResource, visit func(child) error) error {
	return eachChild(ctx, cluster, resource, modelstackrender.ChildSelector, stackKind, visit)
}

// eachChild calls visit for every child of a resource that an owner of the kind controls. It leaves out objects that are being
// deleted.
func eachChild(ctx context.Context, cluster *cluster, resource schema.GroupVersionResource, selector string, owners *kind, visit func(child) error) error {
	return eachPage(metav1.ListOptions{LabelSelector: selector, Limit: childrenPerPage}, func(options metav1.ListOptions) (metav1.ListInterface, error) {
		list, err := cluster.metadata.Resource(resource).Namespace(cluster.namespace).List(ctx, options)
		if err != nil {
			return nil, fmt.Errorf("listing the cluster's %s: %w", resource.Resource, err)
		}
		for i := range list.Items {
			if err := visitControlled(&list.Items[i], resource.Resource, owners, visit); err != nil {
				return nil, err
			}
		}
		return list, nil
	})
}

// eachStackRecord calls visit for every ControllerRevision that a stack controls. It reads them with their data.
func eachStackRecord(ctx context.Context, cluster *cluster, owners *kind, visit func(child) error) error {
	return eachPage(metav1.ListOptions{LabelSelector: modelstackrender.ChildSelector, Limit: recordsPerPage}, func(options metav1.ListOptions) (metav1.ListInterface, error) {
		list, err := cluster.kube.AppsV1().ControllerRevisions(cluster.namespace).List(ctx, options)
		if err != nil {
			return nil, fmt.Errorf("listing the cluster's controllerrevisions: %w", err)
		}
		for i := range list.Items {
			if err := visitControlled(&list.Items[i], "controllerrevisions", owners, visit); err != nil {
				return nil, err
			}
		}
		return list, nil
	})
}

func visitControlled(object metav1.Object, resource string, owners *kind, visit func(child) error) error {
	owner := owners.ownerOf(object)
	if owner == nil || object.GetDeletionTimestamp() != nil {
		return nil
	}
	return visit(child{object, resource, *owner})
}

// eachPage calls list for each page in turn.
func eachPage(options metav1.ListOptions, list func(metav1.ListOptions) (metav1.ListInterface, error)) error {
	for {
		page, err := list(options)
		if err != nil || page.GetContinue() == "" {
			return err
		}
		options.Continue = page.GetContinue()
	}
}
