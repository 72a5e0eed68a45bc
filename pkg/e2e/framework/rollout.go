// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// WithSteps makes rollouts of the type with steps, which are rolled back if they fail.
func WithSteps(rolloutType modelv1.RolloutType, steps ...modelv1.ModelBoxRolloutStep) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) {
		spec.Rollout = &modelv1.ModelBoxRollout{OnFailure: modelv1.RolloutFailureRollback, Type: &rolloutType, Steps: steps}
	}
}

// AwaitStep waits until the rollout of the box has reached the step, in which the new revision has that percentage of the traffic.
func (n *Namespace) AwaitStep(box string, step, weight int32) {
	n.T.Helper()
	n.AwaitBox(box, fmt.Sprintf("is in step %d with %d%% of the traffic", step, weight), func(box *modelv1.ModelBox) error {
		rollout := box.Status.Rollout
		if rollout == nil || ptr.Deref(rollout.Step, 0) != step || ptr.Deref(rollout.Weight, -1) != weight {
			return fmt.Errorf("its rollout is %+v", rollout)
		}
		return CheckCondition(box, modelv1.ConditionProgressing, metav1.ConditionTrue, modelv1.ReasonProgressing)
	})
}

// Promote ends the current step of the rollout of the box.
func (n *Namespace) Promote(box string) {
	n.T.Helper()
	n.promote(box, &modelv1.ModelBoxPromotion{})
}

// PromoteFully ends all steps of the rollout of the box.
func (n *Namespace) PromoteFully(box string) {
	n.T.Helper()
	n.promote(box, &modelv1.ModelBoxPromotion{Full: true})
}

func (n *Namespace) promote(box string, promotion *modelv1.ModelBoxPromotion) {
	n.T.Helper()
	if _, err := n.Boxes.CreatePromotion(n.Ctx, box, promotion, metav1.CreateOptions{}); err != nil {
		n.T.Fatal(err)
	}
}

// Abort gives the pods of the box the stable revision back in the middle of a rollout.
func (n *Namespace) Abort(box string) {
	n.T.Helper()
	if _, err := n.Boxes.CreateAbort(n.Ctx, box, &modelv1.ModelBoxAbort{}, metav1.CreateOptions{}); err != nil {
		n.T.Fatal(err)
	}
}

// AwaitImages waits until the box has that many pods of each image, and no others.
func (n *Namespace) AwaitImages(box string, want map[string]int) {
	n.T.Helper()
	n.Eventually(fmt.Sprintf("the pods of %s have the images %v", box, want), func() error {
		pods, err := n.LivePods(box)
		if err != nil {
			return err
		}
		got := map[string]int{}
		for i := range pods {
			got[pods[i].Spec.Containers[0].Image]++
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			return fmt.Errorf("they have %v", got)
		}
		return nil
	})
}
