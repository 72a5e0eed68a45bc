// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"fmt"
	"path"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/client-go/metadata"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
	modelstackrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelstack"
)

// Stacks are not recorded: one that was lost comes back from a snapshot only. Its boxes stay, and are nobody's then. What is
// here makes sure that they still belong to a stack that is in the store.

// stacksPerPage bounds the memory that a list of stacks takes, which may be of half a megabyte each.
const stacksPerPage = 100

// storedStacks returns the UIDs of the stacks in the store.
func storedStacks(ctx context.Context, options generic.RESTOptions) (sets.Set[types.UID], error) {
	prefix := path.Join("/", options.ResourcePrefix)
	raw, destroy, err := generic.NewRawStorage(options.StorageConfig,
		func() runtime.Object { return &model.ModelStack{} }, func() runtime.Object { return &model.ModelStackList{} }, prefix)
	if err != nil {
		return nil, fmt.Errorf("opening the storage of stacks: %w", err)
	}
	defer destroy()
	uids := sets.New[types.UID]()
	predicate := storage.Everything
	predicate.Limit = stacksPerPage
	for {
		list := &model.ModelStackList{}
		if err := raw.GetList(ctx, prefix+"/", storage.ListOptions{Predicate: predicate, Recursive: true}, list); err != nil {
			return nil, fmt.Errorf("listing the stacks in the store: %w", err)
		}
		for i := range list.Items {
			uids.Insert(list.Items[i].UID)
		}
		if list.Continue == "" {
			return uids, nil
		}
		predicate.Continue = list.Continue
	}
}

// lostServices returns the Services of the cluster that a stack controls which does not exist, as "namespace/name". They would
// be deleted, and with them the way to what is outside.
func lostServices(ctx context.Context, cluster metadata.Interface, exists func(types.UID) bool) ([]string, error) {
	options := metav1.ListOptions{LabelSelector: render.ManagedByLabel + "=" + render.ManagedBy, Limit: childrenPerPage}
	var lost []string
	for {
		list, err := cluster.Resource(services).List(ctx, options)
		if err != nil {
			return nil, fmt.Errorf("listing the cluster's Services: %w", err)
		}
		for i := range list.Items {
			service := &list.Items[i]
			if owner := modelstackrender.ControllingStack(service); owner != nil && service.DeletionTimestamp == nil && !exists(owner.UID) {
				lost = append(lost, service.Namespace+"/"+service.Name)
			}
		}
		if list.Continue == "" {
			return lost, nil
		}
		options.Continue = list.Continue
	}
}
