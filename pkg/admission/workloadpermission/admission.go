// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package workloadpermission keeps boxes from giving their authors more than Kubernetes would.
//
// The server writes the Deployment and the Service of every box with its own rights. Who may create boxes and nothing
// else must not gain by that what a Deployment would give: another ServiceAccount, a Secret, the host. So what a box has
// beyond an ordinary application its author needs the right to create a Deployment or a Service for.
package workloadpermission

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// PluginName is the name by which the plugin is turned off.
const PluginName = "WorkloadPermissionEnforcement"

// maxNamedFields is how many fields a refusal names for each right that is missing.
const maxNamedFields = 10

// Register registers the plugin.
func Register(plugins *admission.Plugins) {
	plugins.Register(PluginName, func(io.Reader) (admission.Interface, error) { return newPlugin(), nil })
}

// Plugin refuses boxes that have, or get by an update, what their author lacks the right for. What an update leaves as it
// is was admitted before, and is nobody's question. Subresources are not looked at: no status and no scale has such a
// field.
type Plugin struct {
	*admission.Handler
	authorizer authorizer.UnconditionalAuthorizer
}

var (
	_ admission.ValidationInterface            = &Plugin{}
	_ initializer.WantsUnconditionalAuthorizer = &Plugin{}
)

func newPlugin() *Plugin {
	return &Plugin{Handler: admission.NewHandler(admission.Create, admission.Update)}
}

// SetUnconditionalAuthorizer lets the plugin ask what a user may do. The answers of the cluster are cached there, for
// --authorization-webhook-cache-authorized-ttl and --authorization-webhook-cache-unauthorized-ttl.
func (p *Plugin) SetUnconditionalAuthorizer(authorizer authorizer.UnconditionalAuthorizer) {
	p.authorizer = authorizer
}

// ValidateInitialization returns what keeps the plugin from working.
func (p *Plugin) ValidateInitialization() error {
	if p.authorizer == nil {
		return errors.New("missing the authorizer")
	}
	return nil
}

// Validate refuses a box with 403, and the fields that it is refused for, where the user lacks a right, and with 503
// where that cannot be found out.
func (p *Plugin) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if a.GetResource().GroupResource() != model.Resource("modelboxes") || a.GetSubresource() != "" {
		return nil
	}
	box, ok := a.GetObject().(*model.ModelBox)
	if !ok {
		return apierrors.NewInternalError(fmt.Errorf("expected a ModelBox, got %T", a.GetObject()))
	}
	old, _ := a.GetOldObject().(*model.ModelBox)
	asked, err := newPowers(box, old)
	if err != nil {
		return apierrors.NewInternalError(fmt.Errorf("looking for the fields that need a right: %w", err))
	}
	var refusals []string
	for _, group := range byRight(asked) {
		isAllowed, err := p.isAllowed(ctx, a, group.right)
		if err != nil {
			return apierrors.NewServiceUnavailable(fmt.Sprintf("%s: asking the cluster whether user %q may %s: %v",
				group.fields(), a.GetUserInfo().GetName(), group.right, err))
		}
		if !isAllowed {
			refusals = append(refusals, fmt.Sprintf("%s: beyond an ordinary application, and user %q cannot %s in the namespace %q",
				group.fields(), a.GetUserInfo().GetName(), group.right, a.GetNamespace()))
		}
	}
	if len(refusals) == 0 {
		return nil
	}
	return admission.NewForbidden(a, errors.New(strings.Join(refusals, "; ")))
}

func (p *Plugin) isAllowed(ctx context.Context, a admission.Attributes, right right) (bool, error) {
	decision, _, err := p.authorizer.Authorize(ctx, authorizer.AttributesRecord{
		User:            a.GetUserInfo(),
		Verb:            right.verb,
		Namespace:       a.GetNamespace(),
		APIGroup:        right.resource.Group,
		APIVersion:      right.resource.Version,
		Resource:        right.resource.Resource,
		Name:            right.name,
		ResourceRequest: true,
	})
	if decision == authorizer.DecisionAllow {
		return true, nil
	}
	return false, err
}

// rightGroup is what one right is needed for.
type rightGroup struct {
	right  right
	powers []power
}

// byRight groups powers by the rights that they need, in the order in which they first occur.
func byRight(powers []power) []rightGroup {
	var groups []rightGroup
	for _, power := range powers {
		for _, right := range power.rights {
			i := slices.IndexFunc(groups, func(group rightGroup) bool { return group.right == right })
			if i < 0 {
				i, groups = len(groups), append(groups, rightGroup{right: right})
			}
			groups[i].powers = append(groups[i].powers, power)
		}
	}
	return groups
}

// fields names what the right is needed for.
func (g *rightGroup) fields() string {
	var names []string
	for _, power := range g.powers[:min(len(g.powers), maxNamedFields)] {
		names = append(names, power.path.String())
	}
	if more := len(g.powers) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}
