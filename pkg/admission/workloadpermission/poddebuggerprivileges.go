// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package workloadpermission

import (
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

var (
	// toDebug is the permission that Kubernetes asks for an ephemeral container.
	toDebug = []permission{{verb: "patch", resource: pods, subresource: "ephemeralcontainers"}}
	// toRestart is the permission to restart boxes.
	toRestart = []permission{{verb: "create", resource: modelBoxes, subresource: "restart"}}
)

// newPodDebuggerPrivileges returns the privileges of a PodDebugger that the old one does not have. The old one is nil for a
// creation. The spec as a whole is one privilege, because it determines which pods get which container. The PodDebugger restarts
// the boxes of the pods that it has selected so far, so that a change of this option is a privilege like the restart itself.
func newPodDebuggerPrivileges(debugger, old *model.PodDebugger) []privilege {
	if old != nil && apiequality.Semantic.DeepEqual(debugger.Spec, old.Spec) {
		return nil
	}
	path := field.NewPath("spec")
	privileges := []privilege{{path, "spec", toDebug}}
	if debugger.Spec.WhenDeleted == model.PodDebuggerRestartBoxes {
		privileges = append(privileges, privilege{path.Child("whenDeleted"), "spec.whenDeleted", toRestart})
	}
	return privileges
}
