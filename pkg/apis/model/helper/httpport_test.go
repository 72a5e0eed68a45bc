// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package helper

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

func TestHTTPPort(t *testing.T) {
	ports := []corev1.ServicePort{
		{Name: "dns", Port: 80, Protocol: corev1.ProtocolUDP},
		{Name: "http", Port: 80, Protocol: corev1.ProtocolTCP},
		{Name: "admin", Port: 8080, Protocol: corev1.ProtocolTCP},
	}
	unnamed := []corev1.ServicePort{{Port: 80, Protocol: corev1.ProtocolTCP}}
	for _, row := range []struct {
		name   string
		ports  []corev1.ServicePort
		wanted *intstr.IntOrString
		want   string
	}{
		{"the first with TCP is the default", ports, nil, "http"},
		{"a number belongs to a port with TCP", ports, ptr.To(intstr.FromInt32(80)), "http"},
		{"a number", ports, ptr.To(intstr.FromInt32(8080)), "admin"},
		{"a name", ports, ptr.To(intstr.FromString("admin")), "admin"},
		{"the name of a port with UDP is none", ports, ptr.To(intstr.FromString("dns")), "none"},
		{"another number is none", ports, ptr.To(intstr.FromInt32(81)), "none"},
		{"no name is none", unnamed, ptr.To(intstr.FromString("")), "none"},
		{"without ports there is none", nil, nil, "none"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := "none"
			if port := HTTPPort(row.ports, row.wanted); port != nil {
				got = port.Name
			}
			if got != row.want {
				t.Errorf("got port %s, want %s", got, row.want)
			}
		})
	}
}
