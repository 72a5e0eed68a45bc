// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package fields

import (
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
)

// unions are the types of which one field excludes others, by the names of the schema.
var unions = map[string]bool{
	"io.k8s.api.apps.v1.DeploymentStrategy":   true, // rollingUpdate, for one type only
	"io.k8s.api.core.v1.AppArmorProfile":      true, // localhostProfile, for one type only
	"io.k8s.api.core.v1.EnvVar":               true, // value or valueFrom
	"io.k8s.api.core.v1.EnvVarSource":         true,
	"io.k8s.api.core.v1.LifecycleHandler":     true,
	"io.k8s.api.core.v1.PodResourceClaim":     true, // resourceClaimName or resourceClaimTemplateName
	"io.k8s.api.core.v1.Probe":                true, // one handler
	"io.k8s.api.core.v1.SeccompProfile":       true, // localhostProfile, for one type only
	"io.k8s.api.core.v1.Volume":               true, // one source
	"io.k8s.api.core.v1.VolumeMount":          true, // subPath or subPathExpr
	"io.k8s.api.core.v1.ResourceRequirements": true, // requests, no more than limits
	"io.k8s.api.core.v1.SecurityContext":      true, // allowPrivilegeEscalation and privileged exclude each other

	"io.k8s.api.policy.v1.PodDisruptionBudgetSpec": true, // minAvailable or maxUnavailable
}

func isUnion(ref schema.TypeRef) bool { return ref.NamedType != nil && unions[*ref.NamedType] }

// visitUnion takes every live field that the render leaves out for one that is in the way, once anything differs.
func (c *comparison) visitUnion(path fieldpath.Path, atom schema.Atom, want, live map[string]any) {
	inside := c.inside()
	inside.visitMap(path, atom, want, live)
	if inside.found.IsEmpty() {
		return
	}
	c.found.add(inside.found)
	for name := range live {
		if _, isWanted := want[name]; !isWanted {
			c.found.Conflicting.Insert(append(path, fieldpath.PathElement{FieldName: &name}))
		}
	}
}
