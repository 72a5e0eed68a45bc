// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package clientsideapply refuses updates by client-side apply that differ from the applied manifest. kubectl merges lists by one
// key, which for ports is their number, and takes two ports of the same number and different protocols for one: it makes the
// changes of the one to the other, or drops it. No single key is better, because a port need not have a name. The annotation of
// kubectl has the manifest. Server-side apply knows both keys.
package clientsideapply

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// Manifests returns the manifest that an update applies, and the manifest that was applied before, in JSON. Both are from the
// annotation of kubectl. It returns false for an update that is not by client-side apply.
func Manifests(object, old metav1.Object) (applied, lastApplied string, ok bool) {
	applied = object.GetAnnotations()[corev1.LastAppliedConfigAnnotation]
	lastApplied = old.GetAnnotations()[corev1.LastAppliedConfigAnnotation]
	return applied, lastApplied, applied != "" && applied != lastApplied && !isServerSideApplied(object)
}

// isServerSideApplied returns whether kubectl has applied the object by server-side apply. The server then keeps the annotation up
// to date, and a field that is no longer applied may stay because another field manager owns it.
func isServerSideApplied(object metav1.Object) bool {
	return slices.ContainsFunc(object.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager == "kubectl" && entry.Operation == metav1.ManagedFieldsOperationApply
	})
}

// Ports is a list of ports in each state that client-side apply merges, and as it was merged.
type Ports struct {
	// Applied and LastApplied are as in the manifests, without defaults.
	Applied, LastApplied []corev1.ServicePort
	// New are the ports that the update makes of Old.
	New, Old []corev1.ServicePort
}

// Validate returns that the new ports, which are at path, are not what is applied.
func (p Ports) Validate(path *field.Path) field.ErrorList {
	applied, lastApplied := withProtocols(p.Applied), withProtocols(p.LastApplied)
	for _, port := range slices.Concat(applied, p.New, p.Old) {
		if !isAmbiguous(port.Port, applied, lastApplied, p.New, p.Old) {
			continue
		}
		appliedPort, lastAppliedPort := findPort(applied, port), findPort(lastApplied, port)
		newPort, oldPort := findPort(p.New, port), findPort(p.Old, port)
		var isWrong bool
		switch {
		case appliedPort != nil:
			isWrong = !isMerged(appliedPort, lastAppliedPort, newPort)
		case lastAppliedPort != nil:
			isWrong = newPort != nil
		case oldPort != nil: // a port of another field manager
			isWrong = !isMerged(oldPort, nil, newPort)
		}
		if isWrong {
			detail := fmt.Sprintf("client-side apply cannot distinguish the ports with number %d, and the result would differ from what you apply: use kubectl apply --server-side", port.Port)
			return field.ErrorList{field.Forbidden(path, detail)}
		}
	}
	return nil
}

// withProtocols returns the ports with the protocol that they have by default.
func withProtocols(ports []corev1.ServicePort) []corev1.ServicePort {
	defaulted := slices.Clone(ports)
	for i := range defaulted {
		if defaulted[i].Protocol == "" {
			defaulted[i].Protocol = corev1.ProtocolTCP
		}
	}
	return defaulted
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
