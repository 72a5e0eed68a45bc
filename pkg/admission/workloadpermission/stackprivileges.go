// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package workloadpermission

import (
	"fmt"
	"net/netip"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// newStackPrivileges returns the privileges of a stack, without the privileges of its boxes, that the old one does not have. The
// old one is nil for a creation.
func newStackPrivileges(stack, old *model.ModelStack) []privilege {
	privileges := stackPrivilegesOf(stack)
	if old != nil {
		privileges = without(privileges, stackPrivilegesOf(old))
	}
	return privileges
}

// stackPrivilegesOf returns the privileges of a stack, without the privileges of its boxes.
func stackPrivilegesOf(stack *model.ModelStack) []privilege {
	byName := map[string]*model.ModelStackComponent{}
	for i := range stack.Spec.Components {
		byName[stack.Spec.Components[i].Name] = &stack.Spec.Components[i]
	}
	isAdopting := stack.Annotations[modelv1.AdoptAnnotation] == "true"
	var privileges []privilege
	for i := range stack.Spec.Components {
		component, path := &stack.Spec.Components[i], helper.ComponentPath(i)
		if isAdopting {
			privileges = append(privileges, adoptionOf(component))
		}
		switch {
		case component.External != nil:
			privileges = append(privileges, wayOut(component, path))
		case component.Box != nil:
			privileges = append(privileges, credentials(component, byName, path)...)
			privileges = append(privileges, isolation(stack, component, path)...)
		}
	}
	return privileges
}

// adoptionOf is the privilege over what has the name of a component already. It is asked for all names at once: a stack has
// many.
func adoptionOf(component *model.ModelStackComponent) privilege {
	permissions := toAdopt(modelBoxes, "")
	if component.External != nil {
		permissions = append(toAdopt(services, ""), toAdopt(endpointSlices, "")...)
	}
	path := field.NewPath("metadata", "annotations").Key(modelv1.AdoptAnnotation)
	return privilege{path, fmt.Sprintf("adoption of %s with a box: %t", component.BoxName, component.Box != nil), permissions}
}

// wayOut is the privilege of a Service that leads to where its pods are not.
func wayOut(component *model.ModelStackComponent, path *field.Path) privilege {
	permissions := toExpose
	if _, err := netip.ParseAddr(component.External.Host); err == nil {
		permissions = append([]permission{{verb: "create", resource: endpointSlices}}, permissions...)
	}
	id := fmt.Sprintf("%s leads to %s port %d", component.BoxName, component.External.Host, component.External.Port)
	return privilege{path.Child("external", "host"), id, permissions}
}

// isolation returns the privileges of the NetworkPolicy of a component of an isolated stack. NetworkPolicies add up, so that this one
// may allow connections that a NetworkPolicy of an administrator does not.
func isolation(stack *model.ModelStack, component *model.ModelStackComponent, path *field.Path) []privilege {
	if !ptr.Deref(stack.Spec.Isolate, false) {
		return nil
	}
	privileges := []privilege{{field.NewPath("spec", "isolate"), component.BoxName + " is isolated", toLimitTraffic}}
	for i, name := range component.DependsOn {
		id := fmt.Sprintf("%s connects to component %s", component.BoxName, name)
		privileges = append(privileges, privilege{path.Child("dependsOn").Index(i), id, toLimitTraffic})
	}
	return privileges
}

// credentials are the privileges of the box of a component that reads the Secrets of what the component depends on.
func credentials(component *model.ModelStackComponent, byName map[string]*model.ModelStackComponent, path *field.Path) []privilege {
	var privileges []privilege
	for i, name := range component.DependsOn {
		dependency := byName[name]
		if dependency == nil || dependency.External == nil || dependency.External.CredentialsSecretName == "" {
			continue
		}
		workload := workloadResource(modelv1.Workload(component.Box.Workload))
		id := fmt.Sprintf("%s reads Secret %s in %s", component.BoxName, dependency.External.CredentialsSecretName, workload.Resource)
		privileges = append(privileges, privilege{path.Child("dependsOn").Index(i), id, forWorkload(toRun, workload)})
	}
	return privileges
}
