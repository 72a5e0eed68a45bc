// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// immutableSelector returns what children.Kind.Immutable is of a workload, which keeps its selector for life.
func immutableSelector(selectorOf func(children.Object) *metav1.LabelSelector) func(*unstructured.Unstructured, children.Object) string {
	return func(rendered *unstructured.Unstructured, live children.Object) string {
		wanted, err := modelboxrender.RenderedSelector(rendered)
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
