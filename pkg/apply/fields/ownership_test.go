// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package fields_test

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
)

func TestClaim(t *testing.T) {
	rendered := fixture.Rendered(t, fixture.WebBox(t), "Deployment")
	replicas, paused := fieldpath.MakePathOrDie("spec", "replicas"), fieldpath.MakePathOrDie("spec", "paused")
	note := fieldpath.MakePathOrDie("metadata", "annotations", "note")
	const apply, update = metav1.ManagedFieldsOperationApply, metav1.ManagedFieldsOperationUpdate
	type owner struct {
		manager   string
		operation metav1.ManagedFieldsOperationType
		fields    []fieldpath.Path
	}
	ours := func(fields ...fieldpath.Path) owner { return owner{"modelbox-apiserver", apply, fields} }
	for _, row := range []struct {
		name           string
		before         []owner
		own, exclusive *fieldpath.Set
		want           map[string][]string
		isChanged      bool
	}{
		{"what is ours stays so", []owner{ours(replicas)}, fieldpath.NewSet(replicas), fieldpath.NewSet(),
			map[string][]string{"modelbox-apiserver": {".spec.replicas"}}, false},
		{"what an updater shares becomes ours alone", []owner{ours(replicas), {"kubectl", update, []fieldpath.Path{replicas, note}}},
			fieldpath.NewSet(replicas), fieldpath.NewSet(),
			map[string][]string{"modelbox-apiserver": {".spec.replicas"}, "kubectl": {".metadata.annotations.note"}}, true},
		{"what an applier shares stays shared", []owner{ours(replicas), {"helm", apply, []fieldpath.Path{replicas}}},
			fieldpath.NewSet(replicas), fieldpath.NewSet(),
			map[string][]string{"modelbox-apiserver": {".spec.replicas"}, "helm": {".spec.replicas"}}, false},
		{"what is claimed from an applier goes from it", []owner{ours(replicas), {"helm", apply, []fieldpath.Path{paused}}},
			fieldpath.NewSet(), fieldpath.NewSet(paused), map[string][]string{"modelbox-apiserver": {".spec.paused", ".spec.replicas"}}, true},
		{"a field without a manager becomes ours", nil, fieldpath.NewSet(replicas), fieldpath.NewSet(),
			map[string][]string{"modelbox-apiserver": {".spec.replicas"}}, true},
		{"what the API made up goes", []owner{ours(replicas), {"before-first-apply", update, []fieldpath.Path{note}}},
			fieldpath.NewSet(replicas), fieldpath.NewSet(), map[string][]string{"modelbox-apiserver": {".spec.replicas"}}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			live := fixture.LiveDeployment(t, func(d *appsv1.Deployment) { d.ManagedFields = nil })
			for _, owner := range row.before {
				live.ManagedFields = append(live.ManagedFields, fixture.ManagedBy(t, live, owner.manager, owner.operation, fieldpath.NewSet(owner.fields...)))
			}
			claimed, isChanged, err := fixture.NewComparer().Claim(live, rendered, row.own, row.exclusive)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string][]string{}
			for i := range claimed {
				fields, err := fields.Decode(&claimed[i])
				if err != nil {
					t.Fatal(err)
				}
				got[claimed[i].Manager] = slices.Sorted(slices.Values(fixture.Paths(fields)))
			}
			fixture.Check(t, "fields", row.want, got)
			fixture.Check(t, "is changed", row.isChanged, isChanged)
		})
	}
}

// An element that is there twice has no place among the fields of an object, and is in the way of no field.
func TestClaimOfASwitchedUnionBesideAnElementThatIsThereTwice(t *testing.T) {
	live, compare := fixture.BareDeployment(t, fixture.WebBox(t)), fixture.NewComparer()
	fixture.SetHash(t, fixture.WebBox(t), live)
	main := fixture.MainContainer(live)
	main.Env = append(main.Env, corev1.EnvVar{Name: "FIRST", Value: "evil"})
	main.ReadinessProbe.ProbeHandler = corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"evil"}}}
	live.ManagedFields = append(live.ManagedFields, fixture.ManagedBy(t, live, "kubectl-edit", metav1.ManagedFieldsOperationUpdate,
		fieldpath.NewSet(fieldpath.MakePathOrDie("spec", "template", "spec", "containers", fieldpath.KeyByFields("name", "app"), "readinessProbe", "exec"))))
	rendered := fixture.Rendered(t, fixture.WebBox(t), "Deployment")
	found, err := compare.Compare(rendered, live)
	if err != nil {
		t.Fatal(err)
	}
	all, err := compare.LiveFields(live)
	if err != nil {
		t.Fatal(err)
	}
	claimed, isChanged, err := compare.Claim(live, rendered, fieldpath.NewSet(), fields.Below(all, found.Conflicting))
	if err != nil {
		t.Fatal(err)
	}
	fixture.Check(t, "is changed", true, isChanged)
	for i := range claimed {
		owned, err := fields.Decode(&claimed[i])
		if err != nil {
			t.Fatal(err)
		}
		fixture.Check(t, "the probe is ours", true, fields.IsOurs(&claimed[i]) && slices.Contains(fixture.Paths(owned), fixture.MainContainerPath+".readinessProbe.exec.command"))
	}
	if _, err := compare.Foreign(live, rendered, fieldpath.NewSet()); err != nil {
		t.Error(err)
	}
}
