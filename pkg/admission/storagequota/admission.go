// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package storagequota refuses boxes that the storage has no room for, long before the storage itself refuses writes:
// deletions have to write first where there are finalizers, and so has the controller.
package storagequota

import (
	"context"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/runtime"
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
type Plugin struct {
	*admission.Handler
	shortage func() error
}

var _ admission.ValidationInterface = &Plugin{}

// Initializer gives the plugin what it goes by.
type Initializer struct {
	// Shortage returns the error with which boxes may not grow at this moment, and nil when they may. Nil: the storage
	// is an outside one, of which nothing is known.
	Shortage func() error
}

// Initialize gives it to the plugin, and nothing to others.
func (i Initializer) Initialize(plugin admission.Interface) {
	if p, ok := plugin.(*Plugin); ok {
		p.shortage = i.Shortage
	}
}

// Validate refuses what there is no room for.
func (p *Plugin) Validate(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if p.shortage == nil || a.GetResource().GroupResource() != model.Resource("modelboxes") || a.GetSubresource() != "" {
		return nil
	}
	shortage := p.shortage()
	if shortage == nil || a.GetOperation() == admission.Create {
		return shortage
	}
	isGrowing, err := grows(a.GetOldObject(), a.GetObject())
	if err != nil || !isGrowing {
		return err
	}
	return shortage
}

// grows returns whether a box takes more space than it did. One that is being deleted does not count: what deletes it
// has to write.
func grows(from, to runtime.Object) (bool, error) {
	box, isBox := to.(*model.ModelBox)
	oldBox, wasBox := from.(*model.ModelBox)
	if !isBox || !wasBox {
		return false, fmt.Errorf("a %T that was a %T is no box", to, from)
	}
	if box.DeletionTimestamp != nil {
		return false, nil
	}
	before, err := size(oldBox)
	if err != nil {
		return false, err
	}
	after, err := size(box)
	return after > before, err
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
