// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
)

func TestConditionReason(t *testing.T) {
	for _, row := range []struct{ name, reason, want string }{
		{"a valid reason stays", "CrashLoopBackOff", "CrashLoopBackOff"},
		{"so does one with every character that there may be", "a_1,B:c2_", "a_1,B:c2_"},
		{"and the longest", strings.Repeat("a", status.MaxReason), strings.Repeat("a", status.MaxReason)},
		{"words", "seccomp killed", "SeccompKilled"},
		{"words with dashes and dots", "no-gpu.example.com/left", "NoGpuExampleComLeft"},
		{"characters of other alphabets", "größe überschritten", "GrEBerschritten"},
		{"a beginning that may not be", "4: _failed", "failed"},
		{"an end that may not be", "Failed:,", "Failed"},
		{"one that is too long", strings.Repeat("a", status.MaxReason+1), "A" + strings.Repeat("a", status.MaxReason-1)},
		{"one that may not end where it is cut", strings.Repeat("a", status.MaxReason-1) + ":a", "A" + strings.Repeat("a", status.MaxReason-2)},
		{"none", "", "Unknown"},
		{"one of which nothing is left", "127 ✗", "Unknown"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, status.ConditionReason(row.reason)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// failingWith returns what is observed of a box where the cluster gives the reason and the message for everything that
// goes wrong.
func failingWith(reason, message string) map[string]*status.Observation {
	rolling := func(pods ...*corev1.Pod) *status.Observation {
		return withPods(complete(func(d *appsv1.Deployment) { d.Status.AvailableReplicas = 1 }), pods...)
	}
	state := func(state corev1.ContainerState) *status.Observation {
		return rolling(newPod("web-1", func(pod *corev1.Pod) {
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", State: state}}
		}))
	}
	return map[string]*status.Observation{
		"container waiting": state(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}),
		"container ended":   state(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: reason, Message: message, ExitCode: 1}}),
		"pod unscheduled": rolling(newPod("web-1", func(pod *corev1.Pod) {
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: reason, Message: message}}
		})),
		"pod not created": complete(func(d *appsv1.Deployment) {
			d.Status.UpdatedReplicas = 1
			d.Status.Conditions = append(d.Status.Conditions,
				appsv1.DeploymentCondition{Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Reason: reason, Message: message})
		}),
		"deployment available": complete(func(d *appsv1.Deployment) {
			d.Status.Conditions[1].Reason, d.Status.Conditions[1].Message = reason, message
		}),
	}
}

// validateStatus returns what is wrong with the status that is computed for the box.
func validateStatus(ctx context.Context, box *modelv1.ModelBox, observed *status.Observation) error {
	changed := box.DeepCopy()
	changed.ResourceVersion = "1"
	var old, updated model.ModelBox
	if err := modelv1.Convert_v1_ModelBox_To_model_ModelBox(changed, &old, nil); err != nil {
		return err
	}
	changed = changed.DeepCopy()
	changed.Status = status.Of(changed, observed)
	if err := modelv1.Convert_v1_ModelBox_To_model_ModelBox(changed, &updated, nil); err != nil {
		return err
	}
	return validation.ValidateModelBoxStatusUpdate(ctx, &updated, &old).ToAggregate()
}

func TestStatusIsValidWithAnyReasonOfAPod(t *testing.T) {
	for _, reason := range []string{"", "seccomp killed", "127", "NodeAffinity:", "größe", strings.Repeat("a", 2000), "\xff"} {
		for where, observed := range failingWith(reason, "m") {
			t.Run(fmt.Sprintf("%s, %.20q", where, reason), func(t *testing.T) {
				if err := validateStatus(t.Context(), fixture.WebBox(t), observed); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func FuzzStatus(f *testing.F) {
	f.Add("CrashLoopBackOff", "back-off", int32(1), int32(137), int64(10))
	f.Add("seccomp killed", "", int32(0), int32(0), int64(40))
	f.Fuzz(func(t *testing.T, reason, message string, restarts, exitCode int32, seconds int64) {
		now := time.Now()
		begin := metav1.NewTime(now.Add(-time.Duration(seconds % 1e6 * int64(time.Second))))
		for where, observed := range failingWith(reason, message) {
			observed.Now = now
			for _, pod := range observed.Pods {
				pod.Status.StartTime = &begin
				for i := range pod.Status.ContainerStatuses {
					status := &pod.Status.ContainerStatuses[i]
					status.RestartCount = restarts
					status.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{Reason: reason, ExitCode: exitCode, StartedAt: begin, FinishedAt: metav1.NewTime(now)}
				}
			}
			if err := validateStatus(t.Context(), fixture.WebBox(t), observed); err != nil {
				t.Errorf("%s: %v", where, err)
			}
		}
	})
}
