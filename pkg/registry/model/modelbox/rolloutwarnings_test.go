// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
)

func TestRolloutWarnings(t *testing.T) {
	type change = func(*model.ModelBox)
	condition := func(conditionType, reason string) change {
		return func(box *model.ModelBox) {
			meta.SetStatusCondition(&box.Status.Conditions, metav1.Condition{
				Type: conditionType, Status: metav1.ConditionFalse, Reason: reason, ObservedGeneration: box.Generation,
			})
		}
	}
	progressing := condition(modelv1.ConditionProgressing, modelv1.ReasonProgressing)
	pending := condition(modelv1.ConditionApplied, modelv1.ReasonPaused)
	paused := func(paused bool) change { return func(box *model.ModelBox) { box.Spec.Paused = paused } }
	replicas := func(replicas int32) change { return func(box *model.ModelBox) { box.Spec.Replicas = ptr.To(replicas) } }
	pods := func(pods int32) change { return func(box *model.ModelBox) { box.Status.Replicas = pods } }
	desired := func(pods int32) change {
		return func(box *model.ModelBox) { box.Status.DesiredReplicas = ptr.To(pods) }
	}
	unseen := func(box *model.ModelBox) { box.Generation++ }
	targetPort := func(box *model.ModelBox) { box.Spec.Ports[0].TargetPort = intstr.FromInt32(8080) }
	newImage := image("nginx:2")
	job := func(box *model.ModelBox) {
		box.Spec.Workload, box.Spec.Replicas, box.Spec.RollingUpdate, box.Spec.MinReadySeconds = model.WorkloadJob, nil, nil, nil
		box.Status.ObservedGeneration = box.Generation
	}
	cronJob := func(box *model.ModelBox) {
		job(box)
		box.Spec.Workload, box.Spec.CronJob = model.WorkloadCronJob, &model.ModelBoxCronJobSpec{Schedule: "@daily"}
	}
	rollingStep := func(step string) change {
		return func(box *model.ModelBox) { box.Spec.RollingUpdate = helper.NewRollingUpdate(intstr.Parse(step)) }
	}
	limits := func(maxSurge, maxUnavailable string) change {
		return func(box *model.ModelBox) {
			box.Spec.RollingUpdate = &model.RollingUpdate{Type: model.RollingUpdateObject, MaxUnavailable: ptr.To(intstr.Parse(maxUnavailable))}
			if maxSurge != "" {
				box.Spec.RollingUpdate.MaxSurge = ptr.To(intstr.Parse(maxSurge))
			}
		}
	}
	const gated = "spec.rollingUpdate: " + warn.NeedsFeatureGate
	const because = warn.UpdatedPodsStay

	for _, row := range []struct {
		name     string
		old, new []change
		want     []string
	}{
		{"another image replaces every pod", nil, []change{newImage}, []string{"rolls 2 pods"}},
		{"another target port is another container port", nil, []change{targetPort}, []string{"rolls 2 pods"}},
		{"one pod is no pods", []change{pods(1)}, []change{newImage}, []string{"rolls 1 pod"}},
		{"no pods are not replaced", []change{pods(0)}, []change{newImage}, nil},
		{"another number of pods replaces none", nil, []change{replicas(3)}, nil},
		{"another Service replaces none", nil, []change{nodePortOf("TCP", 30011)}, nil},

		{"pods that are added are not replaced", nil, []change{newImage, replicas(5)}, []string{"rolls 2 pods"}},
		{"pods that are given up are not replaced", nil, []change{newImage, replicas(1)}, []string{"rolls 1 pod"}},
		{"a box that is stopped replaces none", nil, []change{newImage, replicas(0)}, nil},
		{"pods of an autoscaler are replaced", []change{pods(5), desired(5)}, []change{newImage}, []string{"rolls 5 pods"}},
		{"pods of an autoscaler are replaced, whatever the box says", []change{pods(5), desired(5)}, []change{newImage, replicas(1)}, []string{
			"rolls 5 pods", "spec.replicas: " + warn.WorkloadAutoscaled("Deployment web", 5, 2),
		}},
		{"pods of an autoscaler go when the box is stopped", []change{pods(5), desired(5)}, []change{newImage, replicas(0)}, nil},

		{"a StatefulSet replaces its pods one by one", []change{statefulSet}, []change{newImage}, []string{"rolls 2 pods, one at a time"}},
		{"a StatefulSet replaces its only pod", []change{statefulSet, pods(1)}, []change{newImage}, []string{"rolls 1 pod"}},
		{"a StatefulSet replaces as many pods as it may, rounded down", []change{statefulSet, pods(5), replicas(5)}, []change{newImage, rollingStep("50%")},
			[]string{"rolls 5 pods, up to 2 at a time", gated}},
		{"a StatefulSet replaces no more pods than it has", []change{statefulSet}, []change{newImage, limits("", "7")}, []string{"rolls 2 pods, up to 2 at a time", gated}},
		{"a StatefulSet replaces one pod where its share is less", []change{statefulSet}, []change{newImage, rollingStep("1%")}, []string{"rolls 2 pods, one at a time", gated}},
		{"another limit of a StatefulSet replaces none", []change{statefulSet}, []change{limits("", "2")}, []string{gated}},
		{"pods of a StatefulSet that an autoscaler has added are replaced", []change{statefulSet, pods(5), desired(5)}, []change{newImage},
			[]string{"rolls 5 pods, one at a time"}},
		{"a StatefulSet that is paused replaces its pods later", []change{statefulSet, paused(true)}, []change{newImage},
			[]string{"will roll 2 pods when the box is unpaused, one at a time"}},
		{"a revert of a StatefulSet finds pods that were not replaced yet", []change{statefulSet, newImage, progressing}, []change{image("nginx:1.7.9")},
			[]string{"rolls up to 2 pods, one at a time" + because}},
		{"a DaemonSet replaces its pods one by one", []change{daemonSet, pods(5), desired(5)}, []change{newImage}, []string{"rolls 5 pods, one at a time"}},
		{"a DaemonSet replaces as many pods as it may, rounded up", []change{daemonSet, pods(5), desired(5)}, []change{newImage, limits("", "30%")},
			[]string{"rolls 5 pods, up to 2 at a time"}},
		{"a DaemonSet replaces as many pods as it may add", []change{daemonSet, pods(5), desired(5)}, []change{newImage, limits("3", "0")},
			[]string{"rolls 5 pods, up to 3 at a time"}},
		{"a DaemonSet that adds none replaces as many as may be unavailable", []change{daemonSet, pods(5), desired(5)}, []change{newImage, limits("0%", "2")},
			[]string{"rolls 5 pods, up to 2 at a time"}},
		{"a DaemonSet without pods replaces none", []change{daemonSet, pods(0), desired(0)}, []change{newImage}, nil},

		{"a Job runs again", []change{job}, []change{newImage}, []string{"replaces Job web" + warn.RunsAgain}},
		{"a Job runs again with other completions", []change{job}, []change{func(box *model.ModelBox) {
			box.Spec.Job = &model.ModelBoxJobSpec{Completions: ptr.To[int32](2)}
		}}, []string{"replaces Job web" + warn.RunsAgain}},
		{"a Job does not run again with another limit", []change{job}, []change{func(box *model.ModelBox) {
			box.Spec.Job = &model.ModelBoxJobSpec{BackoffLimit: ptr.To[int32](2), Parallelism: ptr.To[int32](2)}
		}}, nil},
		{"a Job that has not been seen does not run again", []change{job, func(box *model.ModelBox) { box.Status.ObservedGeneration = 0 }}, []change{newImage}, nil},
		{"a Job that is paused runs again later", []change{job, paused(true)}, []change{newImage}, []string{"will replace Job web when the box is unpaused" + warn.RunsAgain}},
		{"the end of a pause may run a Job again", []change{job, paused(true), newImage, pending}, []change{paused(false)},
			[]string{"replaces Job web if its pods have changed" + warn.RunsAgain}},
		{"a CronJob is changed for its next run", []change{cronJob}, []change{newImage}, nil},
		{"a CronJob that is restarted runs", []change{cronJob}, []change{func(box *model.ModelBox) {
			box.Spec.PodTemplate = &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{modelv1.RestartedAtAnnotation: "2026-01-02T03:04:05Z"}}}
		}}, []string{"runs a Job of CronJob web"}},

		{"a revert finds pods that were not replaced yet", []change{newImage, progressing, pods(3)}, []change{image("nginx:1.7.9"), replicas(3)}, []string{"rolls up to 3 pods" + because}},
		{"a revert of what has not been seen yet may find every pod", []change{newImage, unseen}, []change{image("nginx:1.7.9")}, []string{"rolls up to 2 pods" + because}},
		{"a rollout that failed may be reverted", []change{newImage, condition(modelv1.ConditionProgressing, modelv1.ReasonProgressDeadlineExceeded)}, []change{image("nginx:1.7.9")},
			[]string{"rolls up to 2 pods" + because}},

		{"a box that is paused replaces its pods later", []change{paused(true)}, []change{newImage}, []string{"will roll 2 pods when the box is unpaused"}},
		{"a box that becomes paused replaces its pods later", nil, []change{paused(true), newImage}, []string{"will roll 2 pods when the box is unpaused"}},
		{"a pending change may be taken back", []change{paused(true), newImage, pending}, []change{image("nginx:1.7.9")},
			[]string{"will roll up to 2 pods when the box is unpaused" + because}},
		{"a pause replaces none", nil, []change{paused(true)}, nil},
		{"a pause of a rollout replaces none", []change{progressing}, []change{paused(true)}, nil},
		{"the end of a pause replaces what is pending", []change{paused(true), newImage, pending}, []change{paused(false)}, []string{"rolls up to 2 pods" + because}},
		{"the end of a pause replaces what may be pending", []change{paused(true), newImage, unseen}, []change{paused(false)}, []string{"rolls up to 2 pods" + because}},
		{"the end of a pause in which nothing happened replaces none", []change{paused(true)}, []change{paused(false)}, nil},
		{"the end of a pause may come with a change", []change{paused(true)}, []change{paused(false), newImage}, []string{"rolls 2 pods"}},
		{"the end of a pause replaces no pods where there are none", []change{paused(true), pending, pods(0)}, []change{paused(false)}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			old := webBox(row.old...)
			box := old.DeepCopy()
			for _, change := range row.new {
				change(box)
			}
			got := newStrategy(old).WarningsOnUpdate(t.Context(), box, old)
			if diff := cmp.Diff(row.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
