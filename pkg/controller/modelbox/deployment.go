// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
)

// deploymentKind returns the Deployments of boxes as a kind of children.
func (c *Controller) deploymentKind(cluster kubernetes.Interface, informer cache.SharedIndexInformer) *children.Kind {
	kind := children.NewKind(appsv1.SchemeGroupVersion.WithKind("Deployment"), "deployments", informer,
		func(namespace string) children.Client[*appsv1.Deployment] {
			return cluster.AppsV1().Deployments(namespace)
		})
	kind.Immutable = immutableSelector
	kind.Kept = fieldpath.NewSet(
		fieldpath.MakePathOrDie("spec", "replicas"),
		fieldpath.MakePathOrDie("spec", "template", "metadata"),
	)
	kind.HandOver = handOverReplicas
	kind.Recorded = c.rollouts.annotated
	return kind
}

// immutableSelector is about the selector of a Deployment, which it keeps for life.
func immutableSelector(rendered *unstructured.Unstructured, live children.Object) string {
	wanted, _, _ := unstructured.NestedStringMap(rendered.Object, "spec", "selector", "matchLabels")
	selector := live.(*appsv1.Deployment).Spec.Selector
	if apiequality.Semantic.DeepEqual(selector, &metav1.LabelSelector{MatchLabels: wanted}) {
		return ""
	}
	return fmt.Sprintf("its selector is %q and cannot become %q", metav1.FormatLabelSelector(selector), labels.Set(wanted))
}
