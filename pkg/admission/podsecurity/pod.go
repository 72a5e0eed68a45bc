// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package podsecurity

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/admission/boxwrites"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/boxview"
)

// podOf returns a pod of the box that is written, and whether the write makes it another one than before. A box that an
// older release accepted and this one cannot render has none.
func podOf(ctx context.Context, write boxwrites.Write) (pod *corev1.Pod, isNew bool) {
	template, err := boxview.PodTemplate(ctx, write.Box)
	if err != nil {
		return nil, false
	}
	pod = &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	if write.Old == nil {
		return pod, true
	}
	old, err := boxview.PodTemplate(ctx, write.Old)
	return pod, err != nil || !apiequality.Semantic.DeepEqual(template, old)
}
