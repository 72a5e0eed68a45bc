// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/autoscaling"
)

var (
	replicasPath    = fieldpath.MakePathOrDie("spec", "replicas")
	podMetadataPath = fieldpath.MakePathOrDie("spec", "template", "metadata")
)

// ScaledBox returns the box of the workload that an autoscaler scales: they have the same name.
func ScaledBox(autoscaler metav1.Object) (types.NamespacedName, bool) {
	kind, name, ok := autoscaling.Target(autoscaler)
	return name, ok && kind.Group == appsv1.GroupName
}
