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

// newPodDebuggerPrivileges returns the privileges of a PodDebugger that the old one does not have. There is none before a creation.
// All of a spec is one: it says which container which pods get. Which boxes it restarts in the end are those of the pods that it
// has chosen until then, so that a change of it is as much of a privilege as the restart itself.
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
