// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
)

// immutableSelector returns what children.Kind.Immutable is of a workload, which keeps its selector for life.
func immutableSelector(selectorOf func(children.Object) *metav1.LabelSelector) func(*unstructured.Unstructured, children.Object) string {
	return func(rendered *unstructured.Unstructured, live children.Object) string {
		wanted, _, _ := unstructured.NestedStringMap(rendered.Object, "spec", "selector", "matchLabels")
		selector := selectorOf(live)
		if apiequality.Semantic.DeepEqual(selector, &metav1.LabelSelector{MatchLabels: wanted}) {
			return ""
		}
		return fmt.Sprintf("its selector is %q and cannot become %q", metav1.FormatLabelSelector(selector), labels.Set(wanted))
	}
}
