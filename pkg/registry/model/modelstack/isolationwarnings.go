// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"slices"

	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
)

// IsolationWarnings warns about the connections that an update closes, one warning for each component that accepts fewer connections.
// The pods of the former revision lose these connections as well, before a new revision replaces them.
func IsolationWarnings(stack, old *model.ModelStack) []string {
	if !ptr.Deref(stack.Spec.Isolate, false) {
		return nil
	}
	before := newConnections(old)
	now := newConnections(stack)
	var warnings []string
	if !before.isIsolated {
		warnings = append(warnings, "spec.isolate: "+warn.ClosesOtherDestinations)
	}
	for i := range stack.Spec.Components {
		name := stack.Spec.Components[i].Name
		var closed []string
		for j := range stack.Spec.Components {
			if client := stack.Spec.Components[j].Name; before.isOpen(client, name) && !now.isOpen(client, name) {
				closed = append(closed, client)
			}
		}
		isClosedToOthers := before.isOpen("", name) && !now.isOpen("", name)
		if len(closed) > 0 || isClosedToOthers {
			warnings = append(warnings, warn.ClosesConnections(name, closed, isClosedToOthers))
		}
	}
	return warnings
}

// connections are the connections that a stack allows between its components.
type connections struct {
	isIsolated bool
	components map[string]*model.ModelStackComponent
}

func newConnections(stack *model.ModelStack) connections {
	c := connections{isIsolated: ptr.Deref(stack.Spec.Isolate, false), components: map[string]*model.ModelStackComponent{}}
	for i := range stack.Spec.Components {
		c.components[stack.Spec.Components[i].Name] = &stack.Spec.Components[i]
	}
	return c
}

// isOpen returns whether the component to accepts connections of the component from, or of other pods for an empty name. Rules of a
// NetworkPolicy of the box itself do not count.
func (c connections) isOpen(from, to string) bool {
	client, server := c.components[from], c.components[to]
	switch {
	case server == nil || server.Box == nil || len(server.Box.Ports) == 0, from == to:
		return false
	case from != "" && (client == nil || client.Box == nil):
		return false
	case !c.isIsolated:
		return true
	case from != "" && slices.Contains(client.DependsOn, to):
		return true
	case from == "":
		return helper.IsExposed(server.Box.Ports, server.Box.ServiceType, server.Box.Ingress != nil || server.Box.IsRouted())
	default:
		// Its own NetworkPolicy keeps a component from connections to components that it does not depend on.
		return false
	}
}
