// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"

// EffectiveServiceType is the Service type that the box gets: spec.serviceType, or where that is left out
// NodePort for a box with a nodePort and ClusterIP for any other.
func (s *ModelBoxSpec) EffectiveServiceType() ServiceType {
	return ServiceType(model.EffectiveServiceType(model.ServiceType(s.ServiceType), s.Ports))
}
