// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package hostfields refuses boxes with fields that the Kubernetes does not know which runs them, and would not take.
//
// It is an admission plugin and not a rule of validation: which fields the cluster knows is not the box's to know, and changes
// when the cluster is upgraded.
package hostfields

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/admission/boxwrites"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/hostcluster"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/boxview"
)

// PluginName is the name by which the plugin is turned off.
const PluginName = "HostFieldValidation"

// timeout is how long a request waits for what the cluster says of its fields.
const timeout = 2 * time.Second

// Register registers the plugin.
func Register(plugins *admission.Plugins) {
	plugins.Register(PluginName, func(io.Reader) (admission.Interface, error) { return newPlugin(), nil })
}

// Plugin refuses new boxes, and stacks with boxes, with fields that the cluster does not know, and updates that add such fields. It
// accepts a field that an update does not change, so that the other fields of a box from a newer cluster can be changed.
type Plugin struct {
	*admission.Handler
	Initializer
}

var (
	_ admission.ValidationInterface     = &Plugin{}
	_ admission.InitializationValidator = &Plugin{}
)

// Initializer gives the plugin what it goes by.
type Initializer struct {
	// Cluster is what the children of boxes are in.
	Cluster *hostcluster.Cluster
}

// Initialize gives it to the plugin, and nothing to others.
func (i Initializer) Initialize(plugin admission.Interface) {
	if p, ok := plugin.(*Plugin); ok {
		p.Initializer = i
	}
}

func newPlugin() *Plugin {
	return &Plugin{Handler: admission.NewHandler(admission.Create, admission.Update)}
}

// ValidateInitialization returns what keeps the plugin from working.
func (p *Plugin) ValidateInitialization() error {
	if p.Cluster == nil {
		return errors.New("missing the host cluster")
	}
	return nil
}

// Validate refuses an object with 422 and names the fields.
func (p *Plugin) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	writes, err := boxwrites.Of(a)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var errs field.ErrorList
	for _, write := range writes {
		unknown, err := p.newlyUnknown(ctx, write)
		if err != nil {
			return apierrors.NewInternalError(fmt.Errorf("looking for fields that the cluster does not know: %w", err))
		}
		for _, use := range unknown {
			errs = append(errs, field.Forbidden(use.Path, p.explain(use.Field)))
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(a.GetKind().GroupKind(), a.GetName(), errs)
}

// newlyUnknown returns where a write sets fields that the cluster does not know, other than as the box had them.
func (p *Plugin) newlyUnknown(ctx context.Context, write boxwrites.Write) ([]hostcluster.Use, error) {
	uses, err := p.unknownIn(ctx, write.Box, write.Spec)
	if err != nil || len(uses) == 0 || write.Old == nil {
		return uses, err
	}
	before, err := p.unknownIn(ctx, write.Old, write.Spec)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(uses, func(use hostcluster.Use) bool {
		return slices.ContainsFunc(before, func(old hostcluster.Use) bool {
			return old.Field == use.Field && apiequality.Semantic.DeepEqual(old.Value, use.Value)
		})
	}), nil
}

func (p *Plugin) unknownIn(ctx context.Context, box *model.ModelBox, spec *field.Path) ([]hostcluster.Use, error) {
	served, err := boxview.V1(box)
	if err != nil {
		return nil, err
	}
	return p.Cluster.UnknownIn(ctx, &served.Spec, spec)
}

// explain says why the field is refused, and what would help.
func (p *Plugin) explain(unknown hostcluster.Field) string {
	text := fmt.Sprintf("Kubernetes %s, which the cluster runs, does not know %s", strings.TrimPrefix(p.Cluster.Version(), "v"), unknown)
	if minor := unknown.IntroducedIn(); minor != "" {
		text += fmt.Sprintf("; it needs %s or later", minor)
	}
	return text
}
