// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"strconv"

	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// boxConfiguration is the apply configuration of a box.
type boxConfiguration struct {
	applymetav1.TypeMetaApplyConfiguration    `json:",inline"`
	*applymetav1.ObjectMetaApplyConfiguration `json:"metadata"`
	Spec                                      map[string]any `json:"spec"`
}

// IsApplyConfiguration implements runtime.ApplyConfiguration.
func (*boxConfiguration) IsApplyConfiguration() {}

// box returns the box of a component, with the fields that the stack sets. It leaves fields with a default value to the box, and to
// clients that scale it.
func (r *Renderer) box(component *modelv1.ModelStackComponent, isAutoscaled bool) (*boxConfiguration, error) {
	spec := r.ConnectedBox(component)
	metadata := r.metadata(component)
	if isAutoscaled && spec.Replicas != nil {
		metadata.WithAnnotations(map[string]string{modelv1.AutoscaledAnnotation: strconv.Itoa(int(*spec.Replicas))})
		spec.Replicas = nil
	}
	configuration := &boxConfiguration{
		TypeMetaApplyConfiguration: *applymetav1.TypeMeta().
			WithAPIVersion(modelboxrender.Kind.GroupVersion().String()).
			WithKind(modelboxrender.Kind.Kind),
		ObjectMetaApplyConfiguration: metadata,
	}
	if err := render.ConvertSet(spec, &configuration.Spec); err != nil {
		return nil, err
	}
	return configuration, nil
}
