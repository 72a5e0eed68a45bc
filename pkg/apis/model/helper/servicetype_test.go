// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package helper

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

func TestEffectiveServiceType(t *testing.T) {
	plain, nodePort := corev1.ServicePort{Port: 80}, corev1.ServicePort{Port: 81, NodePort: 30010}
	for _, row := range []struct {
		name     string
		declared model.ServiceType
		ports    []corev1.ServicePort
		want     model.ServiceType
	}{
		{"no ports", "", nil, model.ServiceTypeClusterIP},
		{"ports without a node port", "", []corev1.ServicePort{plain}, model.ServiceTypeClusterIP},
		{"a node port", "", []corev1.ServicePort{nodePort}, model.ServiceTypeNodePort},
		{"a node port among others", "", []corev1.ServicePort{plain, nodePort}, model.ServiceTypeNodePort},
		{"what is declared", model.ServiceTypeHeadless, []corev1.ServicePort{plain}, model.ServiceTypeHeadless},
		{"what is declared with a node port", model.ServiceTypeLoadBalancer, []corev1.ServicePort{nodePort}, model.ServiceTypeLoadBalancer},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := EffectiveServiceType(row.declared, row.ports); got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
}
