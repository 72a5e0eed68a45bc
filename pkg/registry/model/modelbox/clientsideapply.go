// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// validateClientSideApply refuses an update by client-side apply that has become another one on its way. kubectl merges
// lists by one key, which for ports is their number, and takes two ports of the same number and different protocols for
// one: it changes the one as the other was to be, or drops it. No single key is better, for a port need not have a
// name. What was to be kubectl says in its annotation. Server-side apply knows both keys.
func validateClientSideApply(box, old *model.ModelBox) field.ErrorList {
	annotation := box.Annotations[corev1.LastAppliedConfigAnnotation]
	oldAnnotation := old.Annotations[corev1.LastAppliedConfigAnnotation]
	if annotation == "" || annotation == oldAnnotation || isServerSideApplied(box) {
		return nil
	}
	applied, lastApplied := appliedPorts(annotation), appliedPorts(oldAnnotation)
	for _, port := range slices.Concat(applied, box.Spec.Ports, old.Spec.Ports) {
		if !isAmbiguous(port.Port, applied, lastApplied, box.Spec.Ports, old.Spec.Ports) {
			continue
		}
		appliedPort, lastAppliedPort := findPort(applied, port), findPort(lastApplied, port)
		newPort, oldPort := findPort(box.Spec.Ports, port), findPort(old.Spec.Ports, port)
		var isWrong bool
		switch {
		case appliedPort != nil:
			isWrong = !isMerged(appliedPort, lastAppliedPort, newPort)
		case lastAppliedPort != nil:
			isWrong = newPort != nil
		case oldPort != nil: // somebody else's
			isWrong = !isMerged(oldPort, nil, newPort)
		}
		if isWrong {
			detail := fmt.Sprintf("client-side apply cannot tell the ports of number %d apart and would not make what is applied: use kubectl apply --server-side", port.Port)
			return field.ErrorList{field.Forbidden(field.NewPath("spec", "ports"), detail)}
		}
	}
	return nil
}

// isServerSideApplied returns whether kubectl has applied the box by server-side apply. The server keeps the annotation up
// to date then, and what is no longer applied may stay because somebody else owns it.
func isServerSideApplied(box *model.ModelBox) bool {
	return slices.ContainsFunc(box.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager == "kubectl" && entry.Operation == metav1.ManagedFieldsOperationApply
	})
}

// appliedPorts returns the ports in kubectl's annotation, none where it is not one of a box.
func appliedPorts(annotation string) []corev1.ServicePort {
	var applied struct {
		Spec struct {
			Ports []corev1.ServicePort `json:"ports"`
		} `json:"spec"`
	}
	if err := json.Unmarshal([]byte(annotation), &applied); err != nil {
		return nil
	}
	ports := applied.Spec.Ports
	for i := range ports {
		if ports[i].Protocol == "" {
			ports[i].Protocol = corev1.ProtocolTCP
		}
	}
	return ports
}

// isAmbiguous returns whether several ports of one of the lists have the number.
func isAmbiguous(number int32, lists ...[]corev1.ServicePort) bool {
	return slices.ContainsFunc(lists, func(ports []corev1.ServicePort) bool {
		first := slices.IndexFunc(ports, func(p corev1.ServicePort) bool { return p.Port == number })
		return first >= 0 && slices.ContainsFunc(ports[first+1:], func(p corev1.ServicePort) bool { return p.Port == number })
	})
}

// findPort returns the one of the ports that has the same number and protocol, nil where none has.
func findPort(ports []corev1.ServicePort, port corev1.ServicePort) *corev1.ServicePort {
	i := slices.IndexFunc(ports, func(p corev1.ServicePort) bool { return p.Port == port.Port && p.Protocol == port.Protocol })
	if i < 0 {
		return nil
	}
	return &ports[i]
}

// isMerged returns whether there is the port, has what is applied now, and has lost what was applied last and no longer
// is. It may have more from others.
func isMerged(applied, lastApplied, port *corev1.ServicePort) bool {
	if port == nil {
		return false
	}
	if lastApplied == nil {
		lastApplied = &corev1.ServicePort{}
	}
	return isFieldMerged(applied.Name, lastApplied.Name, port.Name, modelv1.DefaultPortName(port)) &&
		isFieldMerged(applied.TargetPort, lastApplied.TargetPort, port.TargetPort, intstr.FromInt32(port.Port)) &&
		isFieldMerged(applied.NodePort, lastApplied.NodePort, port.NodePort, 0) &&
		isFieldMerged(ptr.Deref(applied.AppProtocol, ""), ptr.Deref(lastApplied.AppProtocol, ""), ptr.Deref(port.AppProtocol, ""), "")
}

func isFieldMerged[T comparable](applied, lastApplied, value, byDefault T) bool {
	var missing T
	switch {
	case applied != missing:
		return value == applied
	case lastApplied != missing:
		return value == byDefault
	default:
		return true
	}
}
