// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package v1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// What a stack says of a box is applied to the box: with defaults, it would take them away from who scales the box.
func TestDefaultsOfStacks(t *testing.T) {
	stack := &modelv1.ModelStack{Spec: modelv1.ModelStackSpec{Components: []modelv1.ModelStackComponent{{
		Name: "web", Box: &modelv1.ModelBoxSpec{
			Image:   "nginx:1.7.9",
			Ports:   ports(corev1.ServicePort{Port: 80}, corev1.ServicePort{Port: 443, Protocol: "UDP", TargetPort: intstr.FromString("https")}),
			Configs: []modelv1.ModelBoxConfig{{MountPath: "/etc/web"}},
			Storage: []modelv1.ModelBoxStorage{{Name: "data", MountPath: "/data"}},
		},
	}, {
		Name: "db", External: &modelv1.ModelStackExternal{Host: "db.example.com", Port: 3306},
	}}}}
	want := stack.DeepCopy()
	want.Spec.Rollout, want.Spec.Deletion = modelv1.ComponentsOrdered, modelv1.ComponentsOrdered
	want.Spec.Components[0].Box.Ports[0].Protocol, want.Spec.Components[0].Box.Ports[0].TargetPort = "TCP", intstr.FromInt32(80)
	scheme.Default(stack)
	if diff := cmp.Diff(want, stack); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}

	stack.Spec.Rollout, stack.Spec.Deletion = modelv1.ComponentsParallel, modelv1.ComponentsParallel
	want = stack.DeepCopy()
	scheme.Default(stack)
	if diff := cmp.Diff(want, stack); diff != "" {
		t.Errorf("what is given, -want +got:\n%s", diff)
	}
}
