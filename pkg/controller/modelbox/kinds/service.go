// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/childkinds"
	modelboxapply "github.com/sharelinuxs/modelbox-apiserver/pkg/apply/modelbox"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
)

// serviceKind returns the Services of boxes as a kind of children.
func serviceKind(cluster kubernetes.Interface, informer cache.SharedIndexInformer) *children.Kind {
	kind := children.NewKind(modelboxapply.Kind(childkinds.Service), informer,
		func(namespace string) children.Client[*corev1.Service] { return cluster.CoreV1().Services(namespace) })
	kind.PreservedFields = fieldpath.NewSet(
		fieldpath.MakePathOrDie("spec", "clusterIP"),
		fieldpath.MakePathOrDie("spec", "clusterIPs"),
		fieldpath.MakePathOrDie("spec", "healthCheckNodePort"),
		fieldpath.MakePathOrDie("spec", "ipFamilies"),
		fieldpath.MakePathOrDie("spec", "ipFamilyPolicy"),
	)
	return kind
}
