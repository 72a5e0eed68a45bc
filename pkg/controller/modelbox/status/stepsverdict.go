// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"time"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// stepsVerdict is the verdict of a rollout that is in steps: which step it is in, and what it waits for. It is nil for any other
// rollout. rollout is how the rollout of the workload gets on.
func stepsVerdict(box *modelv1.ModelBox, observed *Observation, rollout verdict) *verdict {
	status := observed.Rollout.Status
	if status == nil || status.Step == nil || status.Phase != modelv1.RolloutProgressing {
		return nil
	}
	step := DescribeStep(box, *status.Step)
	switch {
	case *status.Step > helper.StepCount(len(box.Spec.Rollout.Steps)):
		step += ": " + rollout.Message
	case observed.Rollout.AwaitsPromotion:
		step += fmt.Sprintf("; waiting for \"kubectl modelbox promote %s\"", box.Name) + describeCheck("; ", observed)
	case status.NextStepAt != nil && (observed.Now.Before(status.NextStepAt.Time) || observed.Rollout.AwaitedCheck == ""):
		step += "; paused until " + status.NextStepAt.UTC().Format(time.RFC3339) + describeCheck("; waiting for ", observed)
	case observed.Rollout.AwaitedCheck != "":
		step += describeCheck("; waiting for ", observed)
	case observed.Candidate != nil:
		replicas := observed.Candidate.Replicas()
		step += fmt.Sprintf("; %d of %s of the new revision available", replicas.Available, kinds.Count(replicas.Desired, "pod", "pods"))
	default:
		step += "; " + rollout.Message
	}
	return (*verdict)(new(kinds.Progressing("%s", step)))
}

// describeCheck returns the check that the step waits for, after the text. It is empty if the step waits for none.
func describeCheck(text string, observed *Observation) string {
	if observed.Rollout.AwaitedCheck == "" {
		return ""
	}
	return text + observed.Rollout.AwaitedCheck
}

// DescribeStep says what a step of the rollout of the box is about. The weight of a step is the percentage of the traffic for the new
// revision only where a route leads it. Otherwise, the number of pods rounds it.
func DescribeStep(box *modelv1.ModelBox, number int32) string {
	steps := box.Spec.Rollout.Steps
	switch count := helper.StepCount(len(box.Spec.Rollout.Steps)); {
	case number > count:
		return "all steps are over, and the new revision takes the place of the stable one"
	case int(number) > len(steps) || steps[number-1].Weight == 0:
		return fmt.Sprintf("step %d of %d: the new revision without traffic", number, count)
	case modelboxrender.SplitsTraffic(box):
		return fmt.Sprintf("step %d of %d: %d%% of the traffic for the new revision", number, count, steps[number-1].Weight)
	default:
		return fmt.Sprintf("step %d of %d (weight %d)", number, count, steps[number-1].Weight)
	}
}
