// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"

// IgnoredFields returns the paths of the fields of the children of a kind whose drift the box ignores, for childfields.Parse.
func IgnoredFields(box *modelv1.ModelBox, kind string) []string {
	ignored := box.Spec.IgnoreDrift
	if ignored == nil {
		return nil
	}
	switch kind {
	case "Deployment":
		return ignored.Deployment
	case "StatefulSet":
		return ignored.StatefulSet
	case "DaemonSet":
		return ignored.DaemonSet
	case "Service":
		return ignored.Service
	case "Ingress":
		return ignored.Ingress
	case "HTTPRoute":
		return ignored.HTTPRoute
	case "HorizontalPodAutoscaler":
		return ignored.HorizontalPodAutoscaler
	case "PodDisruptionBudget":
		return ignored.PodDisruptionBudget
	default:
		return nil
	}
}
