// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
)

func TestTrimChildKeepsTheKindAndDropsManagedFields(t *testing.T) {
	managed := []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
	for _, row := range []struct {
		object children.Object
		want   string
	}{
		{&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web", ManagedFields: managed}}, "apps/v1, Kind=Deployment"},
		{&corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web", ManagedFields: managed}}, "/v1, Kind=Service"},
	} {
		t.Run(row.want, func(t *testing.T) {
			trimmed, err := kinds.TrimChild(row.object)
			if err != nil {
				t.Fatal(err)
			}
			object := trimmed.(children.Object)
			if got := object.GetObjectKind().GroupVersionKind().String(); got != row.want {
				t.Errorf("kind: got %s, want %s", got, row.want)
			}
			if len(object.GetManagedFields()) != 0 {
				t.Error("the managed fields are kept")
			}
			if object.GetName() != "web" {
				t.Error("the name is lost")
			}
		})
	}
}

func TestTrimChildKeepsWhoPausedADeployment(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*appsv1.Deployment)
		want   []string
	}{
		{"paused", pausedBy("kubectl-rollout"), []string{"kubectl-rollout "}},
		{"paused by an unknown manager", pausedBy(""), nil},
		{"no longer paused", func(d *appsv1.Deployment) {
			pausedBy("kubectl-rollout")(d)
			d.Spec.Paused = false
		}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			trimmed, err := kinds.TrimChild(completeDeployment(row.change))
			if err != nil {
				t.Fatal(err)
			}
			check(t, "managers", row.want, managers(trimmed.(metav1.Object)))
		})
	}
}

// The managed fields that the cache keeps say the same as all of them.
func TestTrimChildKeepsTheFingerprint(t *testing.T) {
	box := fixture.WebBox(t)
	live := fixture.LiveDeployment(t)
	fixture.SetHash(t, box, live)
	before := fields.Fingerprint(live)
	cached, err := kinds.TrimChild(live)
	if err != nil {
		t.Fatal(err)
	}
	expected, err := fixture.NewComparer().OwnedFingerprint(fixture.Rendered(t, box, "Deployment"))
	if err != nil {
		t.Fatal(err)
	}
	check(t, "fingerprint", before, expected)
	check(t, "fingerprint in the cache", before, fields.Fingerprint(cached.(metav1.Object)))
}
