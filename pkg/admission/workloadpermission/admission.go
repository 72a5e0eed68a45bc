// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package workloadpermission keeps boxes from giving their authors more than Kubernetes would.
//
// The server writes the workload and the Services of every box with its own permissions. A user who may only create boxes must not
// gain through them what a workload would give: another ServiceAccount, a Secret, the host. So the author of a box needs the
// permission to create the workload or a Service if the box has fields beyond an ordinary application. The author of a stack needs
// it for the boxes of the stack. A network becomes a NetworkAttachmentDefinition, which its author needs the permission to create.
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

	"github.com/sharelinuxs/modelbox-apiserver/pkg/admission/boxwrites"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// PluginName is the name by which the plugin is turned off.
const PluginName = "WorkloadPermissionEnforcement"

// maxNamedFields is how many fields a refusal names for each permission that is missing.
const maxNamedFields = 10

// Register registers the plugin.
func Register(plugins *admission.Plugins) {
	plugins.Register(PluginName, func(io.Reader) (admission.Interface, error) { return newPlugin(), nil })
}

// Plugin refuses networks, PodDebuggers, boxes, and stacks with boxes, whose author lacks the permission for a field that they
// have, or that an update adds. It does not check the fields that an update does not change: they were admitted before. It does not
// look at subresources either: no status and no scale has such a field.
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

// Validate refuses an object with 403, and the fields that it is refused for, where the user lacks a permission, and with 503
// where that cannot be found out.
func (p *Plugin) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	asked, err := askedFor(a)
	if err != nil {
		return apierrors.NewInternalError(fmt.Errorf("looking for the fields that need a permission: %w", err))
	}
	var refusals []string
	for _, group := range byPermission(asked) {
		isAllowed, err := p.isAllowed(ctx, a, group.permission)
		if err != nil {
			return apierrors.NewServiceUnavailable(fmt.Sprintf("%s: asking the cluster whether user %q may %s: %v",
				group.fields(), a.GetUserInfo().GetName(), group.permission, err))
		}
		if !isAllowed {
			refusals = append(refusals, fmt.Sprintf("%s: %s, and user %q cannot %s in the namespace %q",
				group.fields(), meaning(a), a.GetUserInfo().GetName(), group.permission, a.GetNamespace()))
		}
	}
	if len(refusals) == 0 {
		return nil
	}
	return admission.NewForbidden(a, errors.New(strings.Join(refusals, "; ")))
}

// askedFor returns the privileges that a request asks for and that the object did not have: the privileges of the boxes that it
// writes, of a stack beside them, and of a Network or a PodDebugger.
func askedFor(a admission.Attributes) ([]privilege, error) {
	writes, err := boxwrites.Of(a)
	if err != nil {
		return nil, err
	}
	var privileges []privilege
	if a.GetSubresource() == "" {
		switch object := a.GetObject().(type) {
		case *model.ModelStack:
			old, _ := a.GetOldObject().(*model.ModelStack)
			privileges = newStackPrivileges(object, old)
		case *model.Network:
			old, _ := a.GetOldObject().(*model.Network)
			privileges = newNetworkPrivileges(object, old)
		case *model.PodDebugger:
			old, _ := a.GetOldObject().(*model.PodDebugger)
			privileges = newPodDebuggerPrivileges(object, old)
		}
	}
	for _, write := range writes {
		ofBox, err := newPrivileges(write.Box, write.Old, write.Spec)
		if err != nil {
			return nil, err
		}
		privileges = append(privileges, ofBox...)
	}
	return privileges, nil
}

// meaning says why what is asked for needs a permission.
func meaning(a admission.Attributes) string {
	switch a.GetResource().GroupResource() {
	case model.Resource("networks"):
		return "sets up interfaces and routes on nodes"
	case model.Resource("poddebuggers"):
		return "acts on pods"
	default:
		return "beyond an ordinary application"
	}
}

func (p *Plugin) isAllowed(ctx context.Context, a admission.Attributes, permission permission) (bool, error) {
	decision, _, err := p.authorizer.Authorize(ctx, authorizer.AttributesRecord{
		User:            a.GetUserInfo(),
		Verb:            permission.verb,
		Namespace:       a.GetNamespace(),
		APIGroup:        permission.resource.Group,
		APIVersion:      permission.resource.Version,
		Resource:        permission.resource.Resource,
		Subresource:     permission.subresource,
		Name:            permission.name,
		ResourceRequest: true,
	})
	if decision == authorizer.DecisionAllow {
		return true, nil
	}
	return false, err
}

// permissionGroup is what one permission is needed for.
type permissionGroup struct {
	permission permission
	privileges []privilege
}

// byPermission groups privileges by the permissions that they need, in the order in which they first occur.
func byPermission(privileges []privilege) []permissionGroup {
	var groups []permissionGroup
	for _, privilege := range privileges {
		for _, permission := range privilege.permissions {
			i := slices.IndexFunc(groups, func(group permissionGroup) bool { return group.permission == permission })
			if i < 0 {
				i, groups = len(groups), append(groups, permissionGroup{permission: permission})
			}
			groups[i].privileges = append(groups[i].privileges, privilege)
		}
	}
	return groups
}

// fields names what the permission is needed for.
func (g *permissionGroup) fields() string {
	var names []string
	isNamed := map[string]bool{}
	for _, privilege := range g.privileges {
		if name := privilege.path.String(); !isNamed[name] {
			isNamed[name] = true
			names = append(names, name)
		}
	}
	if more := len(names) - maxNamedFields; more > 0 {
		names = append(names[:maxNamedFields], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}
