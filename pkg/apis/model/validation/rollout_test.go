// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
)

func TestRollout(t *testing.T) {
	check(t, []row{
		{"no replicas stop a box", func(box *model.ModelBox) { box.Spec.Replicas = ptr.To[int32](0) }, nil},
		{"replicas are not negative", func(box *model.ModelBox) { box.Spec.Replicas = ptr.To[int32](-1) },
			[]string{"Invalid value: spec.replicas"}},

		{"a rolling update of 1% is accepted", rollingUpdate(intstr.FromString("1%")), nil},
		{"a rolling update of 100% is accepted", rollingUpdate(intstr.FromString("100%")), nil},
		{"a rolling update of one pod is accepted", rollingUpdate(intstr.FromInt32(1)), nil},
		{"a rolling update of more pods than there are is accepted", rollingUpdate(intstr.FromInt32(1000)), nil},
		{"a rolling update of 0% moves nothing", rollingUpdate(intstr.FromString("0%")), []string{"Invalid value: spec.rollingUpdate"}},
		{"a rolling update of no pod moves nothing", rollingUpdate(intstr.FromInt32(0)), []string{"Invalid value: spec.rollingUpdate"}},
		{"a rolling update of 101% is refused", rollingUpdate(intstr.FromString("101%")), []string{"Invalid value: spec.rollingUpdate"}},
		{"a rolling update of abc is refused", rollingUpdate(intstr.FromString("abc")), []string{"Invalid value: spec.rollingUpdate"}},
		{"a rolling update of -1 is refused", rollingUpdate(intstr.FromInt32(-1)), []string{"Invalid value: spec.rollingUpdate"}},
		{"a rolling update of -1% is refused", rollingUpdate(intstr.FromString("-1%")), []string{"Invalid value: spec.rollingUpdate"}},
		{"a rolling update of half a percent is refused", rollingUpdate(intstr.FromString("0.5%")), []string{"Invalid value: spec.rollingUpdate"}},
		{"a rolling update of a quoted number is refused", rollingUpdate(intstr.FromString("2")), []string{"Invalid value: spec.rollingUpdate"}},
		{"a rolling update of a percentage beyond any number is refused", rollingUpdate(intstr.FromString("99999999999999999999%")),
			[]string{"Invalid value: spec.rollingUpdate"}},

		{"a rolling update that adds one pod first is accepted", rollingUpdateOf("1", "0"), nil},
		{"a rolling update that takes one pod away first is accepted", rollingUpdateOf("0", "1"), nil},
		{"a rolling update that takes all pods away is accepted", rollingUpdateOf("0", "100%"), nil},
		{"a rolling update that adds twice the pods is accepted", rollingUpdateOf("200%", "0%"), nil},
		{"a rolling update that takes more pods away than there are is accepted", rollingUpdateOf("0", "1000"), nil},
		{"a rolling update neither of whose limits is above 0 moves nothing", rollingUpdateOf("0", "0"), []string{"Invalid value: spec.rollingUpdate.maxUnavailable"}},
		{"a rolling update neither of whose shares is above 0 moves nothing", rollingUpdateOf("0%", "0%"), []string{"Invalid value: spec.rollingUpdate.maxUnavailable"}},
		{"a rolling update of an empty object says nothing", rollingUpdateOf("", ""), []string{"Required value: spec.rollingUpdate"}},
		{"maxUnavailable is at most 100%", rollingUpdateOf("1", "101%"), []string{"Invalid value: spec.rollingUpdate.maxUnavailable"}},
		{"maxSurge and maxUnavailable are not negative", rollingUpdateOf("-1", "-1"),
			[]string{"Invalid value: spec.rollingUpdate.maxSurge", "Invalid value: spec.rollingUpdate.maxUnavailable"}},
		{"maxSurge and maxUnavailable are numbers or percentages", rollingUpdateOf("half", "-1%"),
			[]string{"Invalid value: spec.rollingUpdate.maxSurge", "Invalid value: spec.rollingUpdate.maxUnavailable"}},
		{"maxSurge is no quoted number", func(box *model.ModelBox) {
			rollingUpdateOf("1", "1")(box)
			box.Spec.RollingUpdate.MaxSurge = ptr.To(intstr.FromString("2"))
		}, []string{"Invalid value: spec.rollingUpdate.maxSurge"}},

		{"Recreate is accepted", strategy(model.StrategyRecreate), nil},
		{"Recreate takes the rolling update that was there before", all(strategy(model.StrategyRecreate), rollingUpdateOf("1", "0")), nil},
		{"a strategy of StatefulSets is refused", strategy("OnDelete"), []string{"Unsupported value: spec.strategy"}},
		{"a strategy is said", strategy(""), []string{"Required value: spec.strategy"}},

		{"no minimum of ready seconds is accepted", minReadySeconds(0), nil},
		{"599 ready seconds are accepted", minReadySeconds(599), nil},
		{"600 ready seconds reach the progress deadline", minReadySeconds(600), []string{"Invalid value: spec.minReadySeconds"}},
		{"ready seconds are not negative", minReadySeconds(-1), []string{"Invalid value: spec.minReadySeconds"}},

		{"a deadline of an hour is accepted", progressDeadlineSeconds(3600), nil},
		{"a deadline after the ready seconds is accepted", progressDeadlineSeconds(4), nil},
		{"a deadline that the ready seconds reach", progressDeadlineSeconds(3), []string{"Invalid value: spec.progressDeadlineSeconds"}},
		{"a deadline of nothing", progressDeadlineSeconds(0), []string{"Invalid value: spec.progressDeadlineSeconds"}},

		{"a policy of a StatefulSet is accepted", podManagementPolicy(model.WorkloadStatefulSet, model.PodManagementParallel), nil},
		{"another policy of a StatefulSet", podManagementPolicy(model.WorkloadStatefulSet, "Random"), []string{"Unsupported value: spec.podManagementPolicy"}},
		{"a policy of a Deployment", podManagementPolicy(model.WorkloadDeployment, model.PodManagementOrderedReady), []string{"Forbidden: spec.podManagementPolicy"}},

		{"no former revisions are accepted", revisionHistoryLimit(0), nil},
		{"100 revisions are accepted", revisionHistoryLimit(100), nil},
		{"101 revisions are too many", revisionHistoryLimit(101), []string{"Invalid value: spec.revisionHistoryLimit"}},
		{"revisions are not negative", revisionHistoryLimit(-1), []string{"Invalid value: spec.revisionHistoryLimit"}},

		{"a rollback is accepted", rollout(model.RolloutFailureRollback, 0), nil},
		{"another policy is refused", rollout("Retry", 1), []string{"Unsupported value: spec.rollout.onFailure"}},
		{"restarts are not negative", rollout(model.RolloutFailurePause, -1), []string{"Invalid value: spec.rollout.maxRestarts"}},
	})
}

func rollingUpdate(value intstr.IntOrString) func(*model.ModelBox) {
	return func(box *model.ModelBox) { box.Spec.RollingUpdate = helper.NewRollingUpdate(value) }
}

// rollingUpdateOf gives each of maxSurge and maxUnavailable as it would be in YAML, "" for none.
func rollingUpdateOf(maxSurge, maxUnavailable string) func(*model.ModelBox) {
	parse := func(value string) *intstr.IntOrString {
		if value == "" {
			return nil
		}
		return ptr.To(intstr.Parse(value))
	}
	return func(box *model.ModelBox) {
		box.Spec.RollingUpdate = &model.RollingUpdate{Type: model.RollingUpdateObject, MaxSurge: parse(maxSurge), MaxUnavailable: parse(maxUnavailable)}
	}
}

func minReadySeconds(seconds int32) func(*model.ModelBox) {
	return func(box *model.ModelBox) { box.Spec.MinReadySeconds = &seconds }
}

func progressDeadlineSeconds(seconds int32) func(*model.ModelBox) {
	return func(box *model.ModelBox) {
		box.Spec.MinReadySeconds, box.Spec.ProgressDeadlineSeconds = ptr.To[int32](3), &seconds
	}
}

func podManagementPolicy(workload model.Workload, policy model.PodManagementPolicy) func(*model.ModelBox) {
	return func(box *model.ModelBox) { box.Spec.Workload, box.Spec.PodManagementPolicy = workload, &policy }
}

func revisionHistoryLimit(limit int32) func(*model.ModelBox) {
	return func(box *model.ModelBox) { box.Spec.RevisionHistoryLimit = &limit }
}

func rollout(policy model.RolloutFailurePolicy, maxRestarts int32) func(*model.ModelBox) {
	return func(box *model.ModelBox) {
		box.Spec.Rollout = &model.ModelBoxRollout{OnFailure: policy, MaxRestarts: &maxRestarts}
	}
}

func strategy(strategy model.Strategy) func(*model.ModelBox) {
	return func(box *model.ModelBox) { box.Spec.Strategy = strategy }
}
