// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package storage holds the REST stores of ModelBoxes and their subresources.
package storage

import (
	"context"
	"fmt"

	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelbox"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/resource"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/subresource"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// Storage is the main resource and its subresources.
type Storage struct {
	ModelBox *REST
	Status   *resource.StatusREST
	Scale    *ScaleREST
	Render   *RenderREST
	Restart  *RestartREST
	Retry    *RetryREST
	History  *HistoryREST
	Rollback *RollbackREST
	Diff     *DiffREST
	Debug    *DebugREST

	Log                       *LogREST
	Exec, Attach, PortForward *ConnectREST
}

// Subresources is what the subresources of boxes need beside the store.
type Subresources struct {
	// Cluster is asked for what there is of a box.
	Cluster modelbox.Cluster
	// Differ compares the children of boxes with what they ask for.
	Differ modelbox.Differ
	// PodAccess reaches the pods of a box.
	PodAccess modelbox.PodAccess
	// Admission sees the boxes that are changed through a subresource, as those that are changed themselves. Nil admits all.
	Admission admission.Interface
	// TypeConverter knows the schema of boxes, for the managed fields of what is changed.
	TypeConverter managedfields.TypeConverter
	// Recorder records who has used one. Nil records nothing.
	Recorder events.EventRecorder
}

// NewStorage returns stores that share one connection to the storage backend. authorizer is asked for what the users of
// requests may know of other boxes; nodePortRange is what the cluster gives out, empty where that is not known; getNetwork is
// asked for the networks of boxes.
func NewStorage(scheme *runtime.Scheme, optsGetter generic.RESTOptionsGetter, authorizer authorizer.UnconditionalAuthorizer, nodePortRange utilnet.PortRange, getNetwork modelbox.GetNetwork, subresources Subresources) (*Storage, error) {
	store := &genericregistry.Store{}
	strategy := modelbox.NewStrategy(scheme, listAllFromCache(store), getNetwork, authorizer, nodePortRange)
	*store = genericregistry.Store{
		NewFunc:                   func() runtime.Object { return &model.ModelBox{} },
		NewListFunc:               func() runtime.Object { return &model.ModelBoxList{} },
		PredicateFunc:             modelbox.Match,
		DefaultQualifiedResource:  model.Resource("modelboxes"),
		SingularQualifiedResource: model.Resource("modelbox"),

		CreateStrategy:      strategy,
		UpdateStrategy:      strategy,
		DeleteStrategy:      strategy,
		ResetFieldsStrategy: strategy,

		TableConvertor: modelbox.TableConvertor,
	}
	options := &generic.StoreOptions{RESTOptions: optsGetter, AttrFunc: modelbox.GetAttrs, Indexers: modelbox.Indexers()}
	if err := store.CompleteWithOptions(options); err != nil {
		return nil, fmt.Errorf("completing the store of modelboxes: %w", err)
	}

	statusStore := resource.StatusStore(store, modelbox.NewStatusStrategy(strategy))
	scaleStore := *store
	scaleStore.UpdateStrategy = modelbox.NewScaleStrategy(strategy)

	newUpdater := func(store *genericregistry.Store, name string) (*subresource.Updater[*model.ModelBox], error) {
		return subresource.NewUpdater[*model.ModelBox](scheme, store, modelboxrender.Kind, name, subresources.TypeConverter, subresources.Admission)
	}
	restarts, err := newUpdater(store, "restart")
	if err != nil {
		return nil, err
	}
	rollbacks, err := newUpdater(store, "rollback")
	if err != nil {
		return nil, err
	}

	retries, err := newUpdater(statusStore, "retry")
	if err != nil {
		return nil, err
	}

	revisions := newRevisionRequests()
	connect := func(name string, newOptions func() runtime.Object, parse func(runtime.Object) (connection, error)) *ConnectREST {
		return &ConnectREST{store, subresources.Cluster, subresources.PodAccess, permissions{authorizer}, name, newOptions, parse}
	}
	return &Storage{
		ModelBox: &REST{&resource.REST{Store: store, Kind: model.Kind("ModelBox"), ShortName: "mb", InCategoryAll: true}},
		Status:   resource.NewStatusREST(statusStore, model.Kind("ModelBox")),
		Scale:    &ScaleREST{store: &scaleStore},
		Render:   &RenderREST{store, subresources.Cluster, authorizer},
		Restart:  newRestartREST(restarts, subresources.Recorder, clock.RealClock{}),
		Retry:    &RetryREST{retries, subresources.Recorder, clock.RealClock{}},
		History:  &HistoryREST{store, subresources.Cluster, revisions},
		Rollback: &RollbackREST{scheme, rollbacks, subresources.Cluster, subresources.Recorder, revisions},
		Diff:     &DiffREST{store, subresources.Cluster, subresources.Differ, authorizer},
		Debug:    &DebugREST{store, subresources.Cluster, subresources.PodAccess, permissions{authorizer}, subresources.Recorder},

		Log:         &LogREST{store, subresources.Cluster, subresources.PodAccess, permissions{authorizer}},
		Exec:        connect("exec", newExecOptions, parseExec),
		Attach:      connect("attach", newAttachOptions, parseAttach),
		PortForward: connect("portforward", newPortForwardOptions, parsePortForward),
	}, nil
}

// listAllFromCache reads boxes from the watch cache of the store.
func listAllFromCache(store *genericregistry.Store) modelbox.ListAll {
	return func(ctx context.Context) (*model.ModelBoxList, error) {
		ctx = genericapirequest.WithNamespace(ctx, metav1.NamespaceAll)
		list, err := store.List(ctx, &metainternalversion.ListOptions{ResourceVersion: "0"})
		if err != nil {
			return nil, err
		}
		return list.(*model.ModelBoxList), nil
	}
}

// REST is the store of the main resource.
type REST struct {
	*resource.REST
}

// Strategy returns the strategy of the resource.
func (r *REST) Strategy() modelbox.Strategy { return r.CreateStrategy.(modelbox.Strategy) }
