// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"cmp"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children/fields"
)

// pausedField is one that a box does not decide: whoever pauses the Deployment is left to it, and told about.
var pausedField = fieldpath.NewSet(fieldpath.MakePathOrDie("spec", "paused"))

// pauseOf says who has paused the Deployment, and what ends that. It is empty while the Deployment is not paused.
func pauseOf(deployment *appsv1.Deployment) string {
	if !deployment.Spec.Paused {
		return ""
	}
	who := "somebody"
	for manager := range fields.ChangedBy(deployment, pausedField, fieldpath.NewSet()) {
		who = cmp.Or(manager, who)
	}
	return fmt.Sprintf("%s has paused the Deployment, until \"kubectl rollout resume deployment/%s\"", who, deployment.Name)
}

// pausersOf returns the managed fields of those who have paused a Deployment: all that is read of them in a cache beside
// the fingerprint of our own. There are none for a child that is not paused.
func pausersOf(object children.Object) []metav1.ManagedFieldsEntry {
	deployment, ok := object.(*appsv1.Deployment)
	if !ok || !deployment.Spec.Paused {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(deployment.ManagedFields), func(entry metav1.ManagedFieldsEntry) bool {
		if fields.IsOurs(&entry) || entry.FieldsV1 == nil {
			return true
		}
		managed, err := fields.Decode(&entry)
		return err != nil || managed.Intersection(pausedField).Empty()
	})
}
