// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package portforward

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestPodPorts(t *testing.T) {
	box := &modelv1.ModelBox{Spec: modelv1.ModelBoxSpec{Ports: []corev1.ServicePort{
		{Name: "http", Port: 80, TargetPort: intstr.FromInt32(8080)},
		{Name: "metrics", Port: 81, TargetPort: intstr.FromString("metrics"), Protocol: corev1.ProtocolTCP},
		{Name: "dns-udp", Port: 53, Protocol: corev1.ProtocolUDP},
		{Name: "dns", Port: 53, Protocol: corev1.ProtocolTCP},
		{Name: "syslog", Port: 514, Protocol: corev1.ProtocolUDP},
	}}}
	for _, test := range []struct {
		name        string
		box         *modelv1.ModelBox
		given, want []string
		wantErr     string
	}{
		{name: "a port leads to its target", box: box, given: []string{"80"}, want: []string{"80:8080"}},
		{name: "to another local port", box: box, given: []string{"9000:80"}, want: []string{"9000:8080"}},
		{name: "to any local port", box: box, given: []string{":http"}, want: []string{":8080"}},
		{name: "by name, to a target with a name", box: box, given: []string{"metrics"}, want: []string{"81:metrics"}},
		{name: "a port of pods", box: box, given: []string{"6060", "9000:debug"}, want: []string{"6060", "9000:debug"}},
		{name: "of two protocols the one that can be forwarded", box: box, given: []string{"53"}, want: []string{"53:53"}},
		{name: "all TCP ports", box: box, want: []string{"80:8080", "81:metrics", "53:53"}},
		{name: "UDP", box: box, given: []string{"514"}, wantErr: "its protocol is UDP"},
		{name: "none", box: &modelv1.ModelBox{}, wantErr: "no TCP ports"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := podPorts(test.box, test.given)
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) {
					t.Fatalf("got %v, %v, want an error with %q", got, err, test.wantErr)
				}
				return
			}
			if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
				t.Errorf("%v, -want +got:\n%s", err, diff)
			}
		})
	}
}
