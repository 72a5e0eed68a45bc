// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package podsecurity

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apiserver/pkg/admission"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// boxWrite is a box that a request writes.
type boxWrite struct {
	// old is nil for a new box.
	box, old *model.ModelBox
	// prefix says which of several boxes it is in front of what is said about it.
	prefix string
}

// boxesOf returns the boxes that a request writes: the object, or those of the components of a stack.
func boxesOf(a admission.Attributes) ([]boxWrite, error) {
	if a.GetSubresource() != "" {
		return nil, nil
	}
	switch a.GetResource().GroupResource() {
	case model.Resource("modelboxes"):
		box, ok := a.GetObject().(*model.ModelBox)
		if !ok {
			return nil, fmt.Errorf("expected a ModelBox, got %T", a.GetObject())
		}
		old, _ := a.GetOldObject().(*model.ModelBox)
		return []boxWrite{{box: box, old: old}}, nil
	case model.Resource("modelstacks"):
		stack, ok := a.GetObject().(*model.ModelStack)
		if !ok {
			return nil, fmt.Errorf("expected a ModelStack, got %T", a.GetObject())
		}
		old, _ := a.GetOldObject().(*model.ModelStack)
		changes, err := helper.BoxChanges(stack, old)
		if err != nil {
			return nil, err
		}
		writes := make([]boxWrite, len(changes))
		for i, change := range changes {
			writes[i] = boxWrite{change.Box, change.Old, change.Path.Child("box").String() + ": "}
		}
		return writes, nil
	default:
		return nil, nil
	}
}

// podOf returns a pod of the box that is written, and whether the write makes it another one than before. A box that an
// older release accepted and this one cannot render has none.
func podOf(write boxWrite) (pod *corev1.Pod, isNew bool) {
	template, err := podTemplate(write.box)
	if err != nil {
		return nil, false
	}
	pod = &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	if write.old == nil {
		return pod, true
	}
	old, err := podTemplate(write.old)
	return pod, err != nil || !apiequality.Semantic.DeepEqual(template, old)
}

func podTemplate(box *model.ModelBox) (*corev1.PodTemplateSpec, error) {
	served := &modelv1.ModelBox{}
	if err := modelv1.Convert_model_ModelBox_To_v1_ModelBox(box, served, nil); err != nil {
		return nil, err
	}
	return modelboxrender.PodTemplate(served)
}
