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
	applied := box.Annotations[corev1.LastAppliedConfigAnnotation]
	before := old.Annotations[corev1.LastAppliedConfigAnnotation]
	if applied == "" || applied == before || isServerSideApplied(box) {
		return nil
	}
	wanted, hadBefore := appliedPorts(applied), appliedPorts(before)
	for _, port := range slices.Concat(wanted, box.Spec.Ports, old.Spec.Ports) {
		if !isShared(port.Port, wanted, hadBefore, box.Spec.Ports, old.Spec.Ports) {
			continue
		}
		want, had := findPort(wanted, port), findPort(hadBefore, port)
		got, was := findPort(box.Spec.Ports, port), findPort(old.Spec.Ports, port)
		var isWrong bool
		switch {
		case want != nil:
			isWrong = !isMerged(want, had, got)
		case had != nil:
			isWrong = got != nil
		case was != nil: // somebody else's
			isWrong = !isMerged(was, nil, got)
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

// isShared returns whether several ports of one of the lists have the number.
func isShared(number int32, lists ...[]corev1.ServicePort) bool {
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

// isMerged returns whether there is the port, has what is applied now, and has lost what was applied before and no longer is. It
// may have more from others.
func isMerged(applied, before, port *corev1.ServicePort) bool {
	if port == nil {
		return false
	}
	if before == nil {
		before = &corev1.ServicePort{}
	}
	return isFieldMerged(applied.Name, before.Name, port.Name, modelv1.DefaultPortName(port)) &&
		isFieldMerged(applied.TargetPort, before.TargetPort, port.TargetPort, intstr.FromInt32(port.Port)) &&
		isFieldMerged(applied.NodePort, before.NodePort, port.NodePort, 0) &&
		isFieldMerged(ptr.Deref(applied.AppProtocol, ""), ptr.Deref(before.AppProtocol, ""), ptr.Deref(port.AppProtocol, ""), "")
}

func isFieldMerged[T comparable](applied, before, value, byDefault T) bool {
	var missing T
	switch {
	case applied != missing:
		return value == applied
	case before != missing:
		return value == byDefault
	default:
		return true
	}
}
