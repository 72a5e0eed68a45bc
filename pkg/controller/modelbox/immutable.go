// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// immutableSelector returns what children.Kind.Immutable is of a workload, which keeps its selector for life.
func immutableSelector(selectorOf func(children.Object) *metav1.LabelSelector) func(*unstructured.Unstructured, children.Object) string {
	return func(rendered *unstructured.Unstructured, live children.Object) string {
		wanted, err := renderedSelector(rendered)
		if err != nil {
			return err.Error()
		}
		selector := selectorOf(live)
		if apiequality.Semantic.DeepEqual(selector, wanted) {
			return ""
		}
		return fmt.Sprintf("its selector is %q and cannot become %q", metav1.FormatLabelSelector(selector), metav1.FormatLabelSelector(wanted))
	}
}

// renderedSelector returns the selector of a rendered workload.
func renderedSelector(rendered *unstructured.Unstructured) (*metav1.LabelSelector, error) {
	selector := &metav1.LabelSelector{}
	field, _, _ := unstructured.NestedMap(rendered.Object, "spec", "selector")
	return selector, render.Convert(field, selector)
}
