// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

func TestCompareTemplatesTellsWhatPodsCanDoWithout(t *testing.T) {
	probe := &corev1.Probe{PeriodSeconds: 5}
	for _, row := range []struct {
		name   string
		before func(*corev1.PodTemplateSpec)
		after  func(*corev1.PodTemplateSpec)
		want   Change
	}{
		{name: "the same template changes nothing"},
		{
			name: "labels and annotations can be set on pods as they run",
			after: func(t *corev1.PodTemplateSpec) {
				t.Labels, t.Annotations = map[string]string{"a": "b"}, map[string]string{"c": "d"}
			},
		},
		{
			name:  "a probe that was not set is for the next start",
			after: func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].ReadinessProbe = probe },
			want:  Change{Deferred: []string{"spec.template.spec.containers[main].readinessProbe"}},
		},
		{
			name:   "another probe is not",
			before: func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].ReadinessProbe = &corev1.Probe{PeriodSeconds: 1} },
			after:  func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].ReadinessProbe = probe },
			want:   Change{Disruptive: []string{"spec.template.spec.containers[0].readinessProbe.periodSeconds"}},
		},
		{
			name:   "a probe that goes is not",
			before: func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].LivenessProbe = probe },
			want:   Change{Disruptive: []string{"spec.template.spec.containers[0].livenessProbe"}},
		},
		{
			name: "a delay before the stop is for the next start",
			after: func(t *corev1.PodTemplateSpec) {
				t.Spec.TerminationGracePeriodSeconds = ptr.To[int64](40)
				t.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 10}}}
			},
			want: Change{Deferred: []string{
				"spec.template.spec.terminationGracePeriodSeconds", "spec.template.spec.containers[main].lifecycle",
			}},
		},
		{
			name: "a hook after the start is not",
			after: func(t *corev1.PodTemplateSpec) {
				t.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PostStart: &corev1.LifecycleHandler{}}
			},
			want: Change{Disruptive: []string{"spec.template.spec.containers[0].lifecycle"}},
		},
		{
			name:   "less time to stop is not",
			before: func(t *corev1.PodTemplateSpec) { t.Spec.TerminationGracePeriodSeconds = ptr.To[int64](60) },
			want:   Change{Disruptive: []string{"spec.template.spec.terminationGracePeriodSeconds"}},
		},
		{
			name:   "ports that are declared, named or in another order are for the next start",
			before: func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].Ports = ports("9000/", "80/") },
			after:  func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].Ports = ports("80/http", "443/", "9000/") },
			want:   Change{Deferred: []string{"spec.template.spec.containers[main].ports"}},
		},
		{
			name:   "a port with another name replaces pods",
			before: func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].Ports = ports("80/http") },
			after:  func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].Ports = ports("80/web") },
			want:   Change{Disruptive: []string{"spec.template.spec.containers[0].ports[0].name"}},
		},
		{
			name:   "a port less replaces pods",
			before: func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].Ports = ports("80/", "443/") },
			after:  func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].Ports = ports("80/") },
			want:   Change{Disruptive: []string{"spec.template.spec.containers[0].ports"}},
		},
		{
			name: "a port of the node replaces pods",
			after: func(t *corev1.PodTemplateSpec) {
				t.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80}}
			},
			want: Change{Disruptive: []string{"spec.template.spec.containers[0].ports"}},
		},
		{
			name:  "another image replaces pods",
			after: func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].Image = "nginx:2" },
			want:  Change{Disruptive: []string{"spec.template.spec.containers[0].image"}},
		},
		{
			name: "a container more replaces pods",
			after: func(t *corev1.PodTemplateSpec) {
				t.Spec.Containers = append(t.Spec.Containers, corev1.Container{Name: "side", ReadinessProbe: probe})
			},
			want: Change{Disruptive: []string{"spec.template.spec.containers"}},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			from := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				TerminationGracePeriodSeconds: ptr.To[int64](30),
				Containers:                    []corev1.Container{{Name: "main", Image: "nginx:1"}},
			}}
			to := from.DeepCopy()
			if row.before != nil {
				row.before(from)
			}
			if row.after != nil {
				row.after(to)
			}
			got, err := CompareTemplates(from, to)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.want, got, cmp.AllowUnexported(Change{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// ports are written as number/name.
func ports(texts ...string) []corev1.ContainerPort {
	var ports []corev1.ContainerPort
	for _, text := range texts {
		number, name, _ := strings.Cut(text, "/")
		ports = append(ports, corev1.ContainerPort{Name: name, ContainerPort: intstr.Parse(number).IntVal, Protocol: corev1.ProtocolTCP})
	}
	return ports
}
