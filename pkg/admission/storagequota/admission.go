// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package storagequota refuses boxes that the storage has no room for, long before the storage itself refuses writes:
// deletions have to write first where there are finalizers, and so has the controller.
package storagequota

import (
	"context"
	"errors"
	"fmt"
	"io"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/admission"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// PluginName is what the plugin is turned off by.
const PluginName = "StorageQuota"

// Register registers the plugin.
func Register(plugins *admission.Plugins) {
	plugins.Register(PluginName, func(io.Reader) (admission.Interface, error) {
		return &Plugin{Handler: admission.NewHandler(admission.Create, admission.Update)}, nil
	})
}

// Plugin refuses new boxes, and boxes that grow, while the storage has no room. Boxes may shrink, and lose finalizers,
// and statuses are written.
//
// It refuses the same while the boxes of their namespace take too much: one namespace cannot fill the storage of all.
type Plugin struct {
	*admission.Handler
	Initializer
}

var _ admission.ValidationInterface = &Plugin{}

// Initializer gives the plugin what it goes by.
type Initializer struct {
	// Shortage returns the error with which boxes may not grow at this moment, and nil when they may. Nil: the storage
	// is an outside one, of which nothing is known.
	Shortage func() error
	// Usage is what the boxes of each namespace take. Nil: there is no limit for it.
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
func (p *Plugin) Validate(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if a.GetResource().GroupResource() != model.Resource("modelboxes") || a.GetSubresource() != "" {
		return nil
	}
	box, isBox := a.GetObject().(*model.ModelBox)
	if !isBox {
		return apierrors.NewInternalError(fmt.Errorf("a %T is no box", a.GetObject()))
	}
	// What deletes a box has to write.
	if box.DeletionTimestamp != nil {
		return nil
	}
	bytes, err := size(box)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	if oldBox, isUpdate := a.GetOldObject().(*model.ModelBox); isUpdate {
		before, err := size(oldBox)
		if err != nil {
			return apierrors.NewInternalError(err)
		}
		if bytes <= before {
			return nil
		}
	}
	if p.Shortage != nil {
		if err := p.Shortage(); err != nil {
			return err
		}
	}
	return p.validateNamespace(a, box, bytes)
}

// validateNamespace refuses a box that the limit of its namespace has no room for.
func (p *Plugin) validateNamespace(a admission.Attributes, box *model.ModelBox, bytes int) error {
	if p.Usage == nil {
		return nil
	}
	if !p.WaitForReady() {
		return admission.NewForbidden(a, errors.New("not yet ready to handle request"))
	}
	name := types.NamespacedName{Namespace: box.Namespace, Name: box.Name}
	total, fits := p.Usage.reserve(name, bytes, p.MaxNamespaceBytes, a.IsDryRun())
	if !fits {
		return admission.NewForbidden(a, fmt.Errorf(
			"exceeded quota: the boxes of the namespace would take %d bytes, limited to %d by --max-modelbox-bytes-per-namespace", total, p.MaxNamespaceBytes))
	}
	return nil
}

// size returns how many bytes a box takes in the storage, but for the record of who wrote which field: it grows by
// itself when somebody takes something away.
func size(box *model.ModelBox) (int, error) {
	stored := &modelv1.ModelBox{}
	if err := modelv1.Convert_model_ModelBox_To_v1_ModelBox(box, stored, nil); err != nil {
		return 0, fmt.Errorf("converting box %s/%s: %w", box.Namespace, box.Name, err)
	}
	stored.ManagedFields = nil // of the copy
	return stored.Size(), nil
}
