// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package rest holds the subresources of ModelBoxes that read a box, and its children and pods in the cluster, or update a box
// through its store. The status and the scale are in package storage.
package rest

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelbox"
	modelboxstorage "github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelbox/storage"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/resource"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/subresource"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// Subresources are the subresources of boxes beside the status and the scale.
type Subresources struct {
	Render   *RenderREST
	Restart  *RestartREST
	Retry    *RetryREST
	Promote  *PromoteREST
	Abort    *AbortREST
	History  *HistoryREST
	Rollback *RollbackREST
	Diff     *DiffREST
	Debug    *DebugREST

	Log                       *LogREST
	Exec, Attach, PortForward *ConnectREST
}

// Config is what the subresources need beside the store.
type Config struct {
	// ChildReader reads the children and the pods of a box.
	ChildReader modelbox.ChildReader
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

// New returns the subresources of the boxes. authorizer is asked for what the users of requests may do with their children.
func New(scheme *runtime.Scheme, boxes *modelboxstorage.REST, authorizer authorizer.UnconditionalAuthorizer, config Config) (*Subresources, error) {
	store := boxes.Store
	newUpdater := func(store *genericregistry.Store, name string) (*subresource.Updater[*model.ModelBox], error) {
		return subresource.NewUpdater[*model.ModelBox](scheme, store, modelboxrender.Kind, name, config.TypeConverter, config.Admission)
	}
	restarts, err := newUpdater(store, "restart")
	if err != nil {
		return nil, err
	}
	rollbacks, err := newUpdater(store, "rollback")
	if err != nil {
		return nil, err
	}
	immediateStore := *store
	immediateStore.UpdateStrategy = modelbox.NewImmediateRollbackStrategy(boxes.Strategy(), clock.RealClock{})
	immediateRollbacks, err := newUpdater(&immediateStore, "rollback")
	if err != nil {
		return nil, err
	}
	newRolloutUpdater := func(name string) (rolloutUpdater, error) {
		statuses, err := newUpdater(resource.StatusStore(store, modelbox.NewStatusStrategy(boxes.Strategy())), name)
		return rolloutUpdater{statuses, config.Recorder}, err
	}
	retries, err := newRolloutUpdater("retry")
	if err != nil {
		return nil, err
	}
	promotions, err := newRolloutUpdater("promote")
	if err != nil {
		return nil, err
	}
	aborts, err := newRolloutUpdater("abort")
	if err != nil {
		return nil, err
	}

	revisions := newRevisionRequests()
	connect := func(name string, newOptions func() runtime.Object, parse func(runtime.Object) (connection, error)) *ConnectREST {
		return &ConnectREST{store, config.ChildReader, config.PodAccess, permissions{authorizer}, name, newOptions, parse}
	}
	return &Subresources{
		Render:   &RenderREST{store, config.ChildReader, authorizer},
		Restart:  newRestartREST(restarts, config.Recorder, clock.RealClock{}),
		Retry:    &RetryREST{retries, clock.RealClock{}},
		Promote:  &PromoteREST{promotions},
		Abort:    &AbortREST{aborts},
		History:  &HistoryREST{store, config.ChildReader, revisions},
		Rollback: &RollbackREST{scheme, rollbacks, immediateRollbacks, config.ChildReader, permissions{authorizer}, config.Recorder, revisions},
		Diff:     &DiffREST{store, config.ChildReader, config.Differ, authorizer},
		Debug:    &DebugREST{store, config.ChildReader, config.PodAccess, permissions{authorizer}, config.Recorder},

		Log:         &LogREST{store, config.ChildReader, config.PodAccess, permissions{authorizer}},
		Exec:        connect("exec", newExecOptions, parseExec),
		Attach:      connect("attach", newAttachOptions, parseAttach),
		PortForward: connect("portforward", newPortForwardOptions, parsePortForward),
	}, nil
}
