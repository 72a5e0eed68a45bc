// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// failingApplicationsSayWhy checks that the table has a reason and the status a message for failures on a node.
func failingApplicationsSayWhy(n *framework.Namespace) {
	for _, test := range []struct {
		name    string
		spec    func(*modelv1.ModelBoxSpec)
		reasons []string // any of them: a kubelet alternates between some reasons
		message []string
	}{
		{
			name:    "image",
			spec:    framework.WithImage("localcluster/testapp:missing"),
			reasons: []string{"ErrImagePull", "ImagePullBackOff"},
			message: []string{"container image", "localcluster/testapp:missing"},
		},
		{
			name:    "crash",
			spec:    withArgs("nonsense"),
			reasons: []string{"CrashLoopBackOff"},
			message: []string{"container crash", "exit code 1"},
		},
		{
			name: "memory",
			spec: func(spec *modelv1.ModelBoxSpec) {
				spec.Resources = &corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("48Mi")}}
				spec.Args = []string{"-memory=100"}
			},
			reasons: []string{"CrashLoopBackOff"},
			message: []string{"container memory", "OOMKilled"},
		},
		{
			name: "resources",
			spec: func(spec *modelv1.ModelBoxSpec) {
				spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1000")}}
			},
			reasons: []string{corev1.PodReasonUnschedulable},
			message: []string{"Insufficient cpu"},
		},
		{
			name: "volume",
			spec: func(spec *modelv1.ModelBoxSpec) {
				spec.Volumes = []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{
					ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "missing"}},
				}}}
				spec.VolumeMounts = []corev1.VolumeMount{{Name: "config", MountPath: "/config"}}
			},
			reasons: []string{"FailedMount"},
			message: []string{"pod volume-", `configmap "missing" not found`},
		},
	} {
		n.T.Run(test.name, func(t *testing.T) {
			n := n.In(t)
			created := time.Now()
			n.CreateBox(newAppBox(test.name, test.spec))
			var condition *metav1.Condition
			n.AwaitBox(test.name, "says what is wrong", func(box *modelv1.ModelBox) error {
				condition = meta.FindStatusCondition(box.Status.Conditions, modelv1.ConditionReady)
				for _, reason := range test.reasons {
					if framework.CheckCondition(box, modelv1.ConditionReady, metav1.ConditionFalse, reason) == nil {
						return nil
					}
				}
				return fmt.Errorf("Ready is %+v", condition)
			})
			t.Logf("%.1f s after it was created: %s: %s", time.Since(created).Seconds(), condition.Reason, condition.Message)
			if !framework.ContainsAll(condition.Message, test.message) || strings.Contains(condition.Message, "\n") {
				t.Errorf("the message is not one line with %q: %s", test.message, condition.Message)
			}
			line := n.Kubectl.Run("get", "modelbox", test.name, "--no-headers")
			if !containsAny(strings.Fields(line), test.reasons) {
				t.Errorf("the table has none of %q: %s", test.reasons, line)
			}
		})
	}
}

func containsAny(fields, wanted []string) bool {
	for _, field := range fields {
		for _, want := range wanted {
			if field == want {
				return true
			}
		}
	}
	return false
}
