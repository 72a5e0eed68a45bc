// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	corev1 "k8s.io/api/core/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// headlessSuffix makes the name of the headless Service out of that of the box.
const headlessSuffix = "-headless"

// GoverningServiceName returns the name of the headless Service in whose domain each pod of a StatefulSet has its name:
// the box's own Service where that is headless, else one beside it. Such a Service is there once the box has ports.
func GoverningServiceName(box *modelv1.ModelBox) string {
	if box.Spec.ServiceType == modelv1.ServiceTypeHeadless {
		return box.Name
	}
	return box.Name + headlessSuffix
}

// HasHeadlessService returns whether the box has a headless Service beside its own one, for the names of its pods.
func HasHeadlessService(box *modelv1.ModelBox) bool {
	return box.Spec.Workload == modelv1.WorkloadStatefulSet && len(box.Spec.Ports) > 0 && GoverningServiceName(box) != box.Name
}

// headlessService resolves the names of pods that are not ready, too: those of a cluster find each other by them before
// they can serve.
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
