// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package workloadpermission

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/childkinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/boxview"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// TestAdoptionOfEveryChild checks that a box that adopts needs permissions for each of its children, with its name.
func TestAdoptionOfEveryChild(t *testing.T) {
	const ports = "ports: [{port: 80}], "
	found := map[childkinds.Kind]bool{}
	for _, spec := range []string{
		"",
		ports,
		ports + "ingress: {}",
		ports + "route: {parentRefs: [{name: public}]}",
		ports + "grpcRoute: {parentRefs: [{name: public}]}",
		"workload: StatefulSet, " + ports,
		"workload: DaemonSet",
		"workload: Job",
		"workload: CronJob, cronJob: {schedule: '@daily'}",
		"configs: [{mountPath: /a, data: {a: '1'}}, {name: b, mountPath: /b, data: {a: '1'}, rollout: Versioned}]",
		"storage: [{name: a, mountPath: /a, size: 1Gi}]",
		"autoscaling: {maxReplicas: 3, cpu: 70}",
		"disruptionBudget: {maxUnavailable: 1}",
		"networkPolicy: {}",
		"networkPolicy: {}, before: {args: [migrate]}",
		"networkPolicy: {}, after: {args: [test]}",
	} {
		t.Run(spec, func(t *testing.T) {
			box := newBox(t, spec, adopting)
			privileges, err := privilegesOf(box, field.NewPath("spec"))
			if err != nil {
				t.Fatal(err)
			}
			served, err := boxview.V1(box)
			if err != nil {
				t.Fatal(err)
			}
			children, err := modelboxrender.Children(served, modelboxrender.ScaledByBox)
			if err != nil {
				t.Fatal(err)
			}
			for _, child := range children {
				kind, isKnown := childkinds.ByGroupVersionKind(child.GroupVersionKind())
				if !isKnown {
					t.Fatalf("boxes have no %s", child.GetKind())
				}
				found[kind] = true
				for _, wanted := range toAdopt(kind.GroupVersionResource(), child.GetName()) {
					if !slices.ContainsFunc(privileges, func(p privilege) bool { return slices.Contains(p.permissions, wanted) }) {
						t.Errorf("it adopts without permission to %s", wanted)
					}
				}
			}
		})
	}
	for _, kind := range childkinds.All() {
		if !found[kind] {
			t.Errorf("no box has a %s", kind.Kind)
		}
	}
}
