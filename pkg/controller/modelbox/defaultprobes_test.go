// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

func TestReadyNamesAFailingDefaultProbe(t *testing.T) {
	now := time.Now()
	// running is the container of that name, started so long ago, and not ready.
	running := func(container string, isStarted bool, ago time.Duration) *corev1.Pod {
		return newPod("web-1", func(pod *corev1.Pod) {
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
				Name: container, Started: &isStarted,
				State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(now.Add(-ago))}},
			}}
		})
	}
	restarted := func(times int32) *corev1.Pod {
		pod := running("app", false, 4*time.Second)
		pod.Status.ContainerStatuses[0].RestartCount = times
		pod.Status.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{Reason: "Error", ExitCode: 137}
		return pod
	}
	probe := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(9090)}}}
	overlay := func(container corev1.Container) func(*modelv1.ModelBox) {
		return func(box *modelv1.ModelBox) {
			container.Name = "app"
			box.Spec.PodTemplate = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{container}}}
		}
	}
	const (
		startup   = "pod web-1, container app: nothing answers on port 8080, which the default startup probe checks; see spec.defaultProbes"
		readiness = "pod web-1, container app: nothing answers on port 8080, which the default readiness probe checks; see spec.defaultProbes"
		patient   = "pod web-1, container app: still not ready after 30s: its startup probe does not succeed"
	)
	for _, row := range []struct {
		name   string
		change func(*modelv1.ModelBox)
		pod    *corev1.Pod
		want   *status.PodFailure
	}{
		{"it cannot have failed yet", nil, running("app", false, 2*time.Second), nil},
		{"it has failed, and may yet succeed", nil, running("app", false, 3*time.Second), &status.PodFailure{Reason: "Progressing", Message: startup}},
		{"it has failed for long", nil, running("app", false, 30*time.Second), &status.PodFailure{Reason: "ContainersNotReady", Message: startup}},
		{"the container was restarted for it", nil, restarted(1), &status.PodFailure{Reason: "Error", Message: startup + "; restarted once, last exit code 137"}},
		{"the container is restarted for it again and again", nil, restarted(2), &status.PodFailure{Reason: "CrashLoopBackOff", Message: startup + "; restarted 2 times, last exit code 137"}},
		{"the readiness probe cannot have failed yet", nil, running("app", true, 10*time.Second), nil},
		{"the readiness probe has failed", nil, running("app", true, 11*time.Second), &status.PodFailure{Reason: "Progressing", Message: readiness}},
		{"another container has no default probes", nil, running("proxy", false, 20*time.Second), nil},
		{"the box has a startup probe", func(box *modelv1.ModelBox) { box.Spec.StartupProbe = probe }, running("app", false, 20*time.Second), nil},
		{"the box has a startup probe that fails for long", func(box *modelv1.ModelBox) { box.Spec.StartupProbe = probe },
			running("app", false, 30*time.Second), &status.PodFailure{Reason: "ContainersNotReady", Message: patient}},
		{"the box has a readiness probe", func(box *modelv1.ModelBox) { box.Spec.ReadinessProbe = probe }, running("app", true, 20*time.Second), nil},
		{"the box has a liveness probe, and so no default startup probe", func(box *modelv1.ModelBox) { box.Spec.LivenessProbe = probe },
			running("app", false, 20*time.Second), nil},
		{"its pod template has a startup probe", overlay(corev1.Container{StartupProbe: probe}), running("app", false, 20*time.Second), nil},
		{"its pod template has a readiness probe", overlay(corev1.Container{ReadinessProbe: probe}), running("app", true, 20*time.Second), nil},
		{"its pod template has something else", overlay(corev1.Container{ReadinessProbe: probe}), running("app", false, 20*time.Second), &status.PodFailure{Reason: "Progressing", Message: startup}},
		{"the box wants no default probes", func(box *modelv1.ModelBox) { box.Spec.DefaultProbes = modelv1.DefaultProbesDisabled },
			running("app", false, 20*time.Second), nil},
		{"the box has no ports", func(box *modelv1.ModelBox) { box.Spec.Ports = nil }, running("app", false, 20*time.Second), nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			var changes []func(*modelv1.ModelBox)
			if row.change != nil {
				changes = append(changes, row.change)
			}
			box := fixture.WebBox(t, changes...)
			template, err := modelboxrender.PodTemplate(box)
			if err != nil {
				t.Fatal(err)
			}
			deployment := completeDeployment(func(d *appsv1.Deployment) { d.Spec.Template = *template })
			got := status.FindPodFailures(box, &status.Observation{Workload: workloadOf(deployment), Pods: []*corev1.Pod{row.pod}, Now: now})
			if diff := cmp.Diff(row.want, got.Worst, cmp.AllowUnexported(status.PodFailure{})); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if isYoung := row.want == nil || row.want.Reason == "Progressing"; isYoung && (got.RecheckAfter <= 0 || got.RecheckAfter > status.StartTimeout) {
				t.Errorf("it is looked at again after %s", got.RecheckAfter)
			}
		})
	}
}
