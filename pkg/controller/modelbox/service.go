// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
)

// serviceKind returns the Services of boxes as a kind of children.
func serviceKind(cluster kubernetes.Interface, informer cache.SharedIndexInformer) *children.Kind {
	kind := children.NewKind(corev1.SchemeGroupVersion.WithKind("Service"), "services", informer,
		func(namespace string) children.Client[*corev1.Service] { return cluster.CoreV1().Services(namespace) })
	kind.Immutable = immutableClusterIP
	kind.Kept = fieldpath.NewSet(
		fieldpath.MakePathOrDie("spec", "clusterIP"),
		fieldpath.MakePathOrDie("spec", "clusterIPs"),
		fieldpath.MakePathOrDie("spec", "healthCheckNodePort"),
		fieldpath.MakePathOrDie("spec", "ipFamilies"),
		fieldpath.MakePathOrDie("spec", "ipFamilyPolicy"),
	)
	return kind
}

// immutableClusterIP is about Services of which one has an address and the other none: a Service keeps its clusterIP for
// life.
func immutableClusterIP(rendered *unstructured.Unstructured, live children.Object) string {
	clusterIP, _, _ := unstructured.NestedString(rendered.Object, "spec", "clusterIP")
	wanted, has := clusterIP != corev1.ClusterIPNone, live.(*corev1.Service).Spec.ClusterIP != corev1.ClusterIPNone
	switch {
	case has && !wanted:
		return "it has a cluster IP and cannot become headless"
	case wanted && !has:
		return "it is headless and cannot get a cluster IP"
	default:
		return ""
	}
}
