// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package fields

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// IsCopyOf returns whether a live child is a copy of the rendered one, as the restore of a backup leaves it. A copy has no
// controller, and we applied it before it was created. If the render has a record, isRecord has to return true for the record of
// the copy; otherwise the copy has to be as rendered. isRecord is nil for children without records. A user who may write the child
// can make such a copy, and gives the owner what it asks for.
func (c *Comparer) IsCopyOf(rendered *unstructured.Unstructured, live Object, isRecord func(record string) bool) bool {
	isOurs := IsCopy(live) && Fingerprint(live) != ""
	if !isOurs || metav1.GetControllerOfNoCopy(live) != nil || !HasLabels(live, rendered) {
		return false
	}
	if _, isRecorded := rendered.GetAnnotations()[modelv1.RecordAnnotation]; isRecorded && isRecord != nil {
		return isRecord(live.GetAnnotations()[modelv1.RecordAnnotation])
	}
	content := rendered.DeepCopy()
	content.SetOwnerReferences(nil)
	annotations := content.GetAnnotations()
	delete(annotations, modelv1.RenderHashAnnotation)
	delete(annotations, modelv1.RecordAnnotation)
	content.SetAnnotations(annotations)
	difference, err := c.Compare(content, live)
	return err == nil && difference.IsEmpty()
}

// HasLabels returns whether a live child has the labels of the rendered one.
func HasLabels(live Object, rendered *unstructured.Unstructured) bool {
	for name, value := range rendered.GetLabels() {
		if live.GetLabels()[name] != value {
			return false
		}
	}
	return true
}
