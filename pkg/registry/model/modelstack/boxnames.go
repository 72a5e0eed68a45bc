// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"

// nameBoxes names the boxes and Services of the components that give no name for them. One that had a name keeps it, as
// a Service keeps its address: what an update leaves out does not replace a running box. old is nil for a new stack.
func nameBoxes(stack, old *model.ModelStack) {
	names := map[string]string{}
	if old != nil {
		for i := range old.Spec.Components {
			names[old.Spec.Components[i].Name] = old.Spec.Components[i].BoxName
		}
	}
	for i := range stack.Spec.Components {
		component := &stack.Spec.Components[i]
		switch {
		case component.BoxName != "":
		case names[component.Name] != "":
			component.BoxName = names[component.Name]
		case component.Box == nil && component.External != nil:
			component.BoxName = component.Name
		default:
			component.BoxName = stack.Name + "-" + component.Name
		}
	}
}
