// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	corev1 "k8s.io/api/core/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// headlessSuffix is the suffix of the name of the headless Service, after the name of the box.
const headlessSuffix = "-headless"

// GoverningServiceName returns the name of the headless Service that governs the DNS names of the pods of a StatefulSet: the
// Service of the box if it is headless, or a second Service. The Service exists if the box has ports.
func GoverningServiceName(box *modelv1.ModelBox) string {
	if box.Spec.ServiceType == modelv1.ServiceTypeHeadless {
		return box.Name
	}
	return box.Name + headlessSuffix
}

// HasHeadlessService returns whether the box has a second, headless Service for the DNS names of its pods.
func HasHeadlessService(box *modelv1.ModelBox) bool {
	return box.Spec.Workload == modelv1.WorkloadStatefulSet && len(box.Spec.Ports) > 0 && GoverningServiceName(box) != box.Name
}

// headlessService also publishes the names of pods that are not ready, because the members of a clustered application need them to
// become ready.
func headlessService(box *modelv1.ModelBox) *applycorev1.ServiceApplyConfiguration {
	spec := applycorev1.ServiceSpec().
		WithType(corev1.ServiceTypeClusterIP).
		WithClusterIP(corev1.ClusterIPNone).
		WithPublishNotReadyAddresses(true).
		WithSelector(Selector(box))
	for i := range box.Spec.Ports {
		port := servicePort(&box.Spec.Ports[i])
		port.NodePort = nil
		spec.WithPorts(port)
	}
	return applycorev1.Service(GoverningServiceName(box), box.Namespace).
		WithLabels(labels(box)).
		WithAnnotations(box.Spec.Annotations).
		WithOwnerReferences(render.OwnerReference(box, Kind)).
		WithSpec(spec)
}
