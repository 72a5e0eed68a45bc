// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package storagequota refuses objects that the storage has no room for, long before the storage itself refuses writes:
// deletions have to write first where there are finalizers, and so has the controller.
package storagequota

import (
	"context"
	"errors"
	"fmt"
	"io"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/admission"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// PluginName is what the plugin is turned off by.
const PluginName = "StorageQuota"

// Register registers the plugin.
func Register(plugins *admission.Plugins) {
	plugins.Register(PluginName, func(io.Reader) (admission.Interface, error) {
		return &Plugin{Handler: admission.NewHandler(admission.Create, admission.Update)}, nil
	})
}

// Plugin refuses new objects of the API group, and objects that grow, while the storage has no room. They may shrink, and
// lose finalizers, and statuses are written.
//
// It refuses the same while the objects of their namespace take too much: one namespace cannot fill the storage of all.
type Plugin struct {
	*admission.Handler
	Initializer
}

var _ admission.ValidationInterface = &Plugin{}

// Initializer gives the plugin what it goes by.
type Initializer struct {
	// Shortage returns the error with which objects may not grow at this moment, and nil when they may. Nil: the storage
	// is an outside one, of which nothing is known.
	Shortage func() error
	// Usage is what the objects of each namespace take. Nil: there is no limit for it.
	Usage *Usage
	// MaxNamespaceBytes is how much they may take.
	MaxNamespaceBytes int
}

// Initialize gives it to the plugin, and nothing to others.
func (i Initializer) Initialize(plugin admission.Interface) {
	if p, ok := plugin.(*Plugin); ok {
		p.Initializer = i
		if i.Usage != nil {
			p.SetReadyFunc(i.Usage.HasSynced)
		}
	}
}

// Validate refuses what there is no room for.
func (p *Plugin) Validate(_ context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	if a.GetResource().Group != model.GroupName || a.GetSubresource() != "" {
		return nil
	}
	object, err := meta.Accessor(a.GetObject())
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	// What deletes an object has to write.
	if object.GetDeletionTimestamp() != nil {
		return nil
	}
	next, err := sizeOf(a.GetObject(), a.GetKind(), o)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	if old := a.GetOldObject(); old != nil {
		before, err := sizeOf(old, a.GetKind(), o)
		if err != nil {
			return apierrors.NewInternalError(err)
		}
		if !next.growsFrom(before) {
			return nil
		}
	}
	if p.Shortage != nil {
		if err := p.Shortage(); err != nil {
			return err
		}
	}
	return p.validateNamespace(a, object, next.total())
}

// validateNamespace refuses an object that the limit of its namespace has no room for.
func (p *Plugin) validateNamespace(a admission.Attributes, object metav1.Object, bytes int) error {
	if p.Usage == nil {
		return nil
	}
	if !p.WaitForReady() {
		return admission.NewForbidden(a, errors.New("not yet ready to handle request"))
	}
	key := objectKey{a.GetResource().Resource, types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}}
	total, fits := p.Usage.reserve(key, bytes, p.MaxNamespaceBytes, a.IsDryRun())
	if !fits {
		return admission.NewForbidden(a, fmt.Errorf(
			"exceeded quota: the objects of the namespace would take %d bytes, limited to %d by --max-modelbox-bytes-per-namespace", total, p.MaxNamespaceBytes))
	}
	return nil
}
