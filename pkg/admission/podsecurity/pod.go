// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package podsecurity

import (
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/admission/boxwrites"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// podOf returns a pod of the box that is written, and whether the write makes it another one than before. A box that an
// older release accepted and this one cannot render has none.
func podOf(write boxwrites.Write) (pod *corev1.Pod, isNew bool) {
	template, err := podTemplate(write.Box)
	if err != nil {
		return nil, false
	}
	pod = &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	if write.Old == nil {
		return pod, true
	}
	old, err := podTemplate(write.Old)
	return pod, err != nil || !apiequality.Semantic.DeepEqual(template, old)
}

func podTemplate(box *model.ModelBox) (*corev1.PodTemplateSpec, error) {
	served := &modelv1.ModelBox{}
	if err := modelv1.Convert_model_ModelBox_To_v1_ModelBox(box, served, nil); err != nil {
		return nil, err
	}
	return modelboxrender.PodTemplate(served)
}
