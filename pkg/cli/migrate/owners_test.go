// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func ownersOfDeployment(t *testing.T, o *options) []types.UID {
	t.Helper()
	live, err := o.clients.dynamic.Resource(appsv1.SchemeGroupVersion.WithResource("deployments")).Namespace("shop").Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var owners []types.UID
	for _, reference := range live.GetOwnerReferences() {
		owners = append(owners, reference.UID)
	}
	return owners
}

func TestChildrenAreOrphanedAndGivenBack(t *testing.T) {
	o, box := newOptions(t, webDeployment()), webBox(t, nil)
	for _, step := range []struct {
		name string
		do   func() error
		want []types.UID
	}{
		{"orphaned, other owners stay", func() error { return o.orphan(t.Context(), box) }, []types.UID{"uid-of-other"}},
		{"orphaned again", func() error { return o.orphan(t.Context(), box) }, []types.UID{"uid-of-other"}},
		{"looked at", func() error { return o.clients.checkOrphans(t.Context(), []*exportedBox{box}) }, []types.UID{"uid-of-other"}},
		{"given back", func() error { return o.giveBack(t.Context(), box) }, []types.UID{"uid-of-web", "uid-of-other"}},
	} {
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if diff := cmp.Diff(step.want, ownersOfDeployment(t, o)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
	}
	if err := o.clients.checkOrphans(t.Context(), []*exportedBox{box}); err == nil {
		t.Error("an operator that took its children back was not noticed")
	}
}

func TestChildOfTheSameNameIsNotTouched(t *testing.T) {
	other := webDeployment()
	other.UID = "uid-of-another"
	o := newOptions(t, other)
	if err := o.orphan(t.Context(), webBox(t, nil)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]types.UID{"uid-of-web", "uid-of-other"}, ownersOfDeployment(t, o)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDryRunOfTheClientChangesNoOwners(t *testing.T) {
	o := newOptions(t, webDeployment())
	o.dryRun = dryRunClient
	if err := o.orphan(t.Context(), webBox(t, nil)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]types.UID{"uid-of-web", "uid-of-other"}, ownersOfDeployment(t, o)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
