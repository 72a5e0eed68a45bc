// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package universe

import (
	"fmt"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/apis/autoscaling"
	api "k8s.io/kubernetes/pkg/apis/core"

	"github.com/sharelinuxs/modelbox-apiserver/hack/universe/cluster"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// boxImage is an image of the box of a name.
type boxImage struct{ box, image string }

// stateOf returns a summary of the status of the box.
func stateOf(box *model.ModelBox) string {
	state := fmt.Sprint(box.Spec.Workload, box.Status.Replicas, box.Status.UpdatedReplicas, box.Status.ReadyReplicas, box.Status.ObservedGeneration == box.Generation)
	for _, condition := range box.Status.Conditions {
		state += fmt.Sprint(" ", condition.Type, condition.Status, condition.Reason)
	}
	if rollout := box.Status.Rollout; rollout != nil {
		state += " " + string(rollout.Phase)
		if rollout.Step != nil {
			state += fmt.Sprint(*rollout.Step)
		}
	}
	return state
}

// runsToCompletion returns whether the pods of the box end.
func runsToCompletion(box *model.ModelBox) bool {
	return modelv1.Workload(box.Spec.Workload).RunsToCompletion()
}

// desired returns the number of pods of the box.
func (c *checks) desired(box *model.ModelBox) int {
	switch {
	case box.Spec.Workload == model.Workload(modelv1.WorkloadDaemonSet):
		return len(c.world.nodes.Names)
	case box.Spec.Autoscaling != nil:
		return c.autoscaled(box)
	case box.Spec.Replicas == nil:
		return 1
	default:
		return int(*box.Spec.Replicas)
	}
}

// autoscaled returns the number of pods that the autoscaler of the box wants, 0 if it has none yet.
func (c *checks) autoscaled(box *model.ModelBox) int {
	autoscaler, _ := c.world.kubernetes.Object("/horizontalpodautoscalers/" + box.Namespace + "/" + box.Name).(*autoscaling.HorizontalPodAutoscaler)
	if autoscaler == nil {
		return 0
	}
	return int(autoscaler.Status.DesiredReplicas)
}

// The prefixes of the keys of all objects of ModelBox, of boxes, and of stacks.
const (
	modelBoxPrefix = "/" + model.GroupName + "/"
	boxPrefix      = modelBoxPrefix + "modelboxes/"
	stackPrefix    = modelBoxPrefix + "modelstacks/"
)

// box returns the box of the name, nil if there is none.
func (c *checks) box(name string) *model.ModelBox {
	box, _ := c.world.modelBox.Object(boxPrefix + namespace + "/" + name).(*model.ModelBox)
	return box
}

func (c *checks) boxes() []*model.ModelBox {
	var boxes []*model.ModelBox
	for _, object := range c.world.modelBox.Objects(boxPrefix) {
		boxes = append(boxes, object.(*model.ModelBox))
	}
	return boxes
}

// pods returns the pods of the box, without the pods of its Jobs and of an orphaned workload.
func (c *checks) pods(box *model.ModelBox) []*api.Pod {
	objects := map[types.UID]metav1.Object{}
	for _, object := range c.world.kubernetes.Objects("/") {
		if object, err := apimeta.Accessor(object); err == nil {
			objects[object.GetUID()] = object
		}
	}
	var pods []*api.Pod
	for _, object := range c.world.kubernetes.Objects("/pods/" + namespace + "/") {
		pod := object.(*api.Pod)
		for owner := metav1.GetControllerOf(pod); owner != nil && owner.Kind != "Job"; {
			if owner.UID == box.UID {
				pods = append(pods, pod)
				break
			}
			object := objects[owner.UID]
			if object == nil {
				break
			}
			owner = metav1.GetControllerOf(object)
		}
	}
	return pods
}

// reached returns how many of the pods are ready and reached by the Service of the box, and whether the box has such a Service.
func (c *checks) reached(box *model.ModelBox, name string, pods []*api.Pod) (int, bool) {
	service, _ := c.world.kubernetes.Object("/services/specs/" + box.Namespace + "/" + name).(*api.Service)
	if service == nil || !metav1.IsControlledBy(service, box) {
		return 0, false
	}
	reached, selector := 0, labels.SelectorFromSet(service.Spec.Selector)
	for _, pod := range pods {
		if cluster.IsReady(pod) && selector.Matches(labels.Set(pod.Labels)) {
			reached++
		}
	}
	return reached, true
}

// runs returns whether the pods of the box can become ready.
func runs(box *model.ModelBox) bool {
	return !box.Spec.Paused && cluster.Runs(box.Spec.Image) && (box.Spec.Before == nil || cluster.Runs(box.Spec.Before.Image))
}

// isRefused returns whether an object with the name of a child does not belong to the box.
func isRefused(box *model.ModelBox) bool {
	applied := apimeta.FindStatusCondition(box.Status.Conditions, modelv1.ConditionApplied)
	return applied != nil && applied.Reason == modelv1.ReasonNotOwned
}

// waitsForUser returns whether the rollout of the box waits for a user.
func waitsForUser(box *model.ModelBox) bool {
	if isInManualStep(box) {
		return true
	}
	switch modelv1.RolloutPhase(rolloutOf(box).Phase) {
	case modelv1.RolloutPaused, modelv1.RolloutFailed, modelv1.RolloutRolledBack:
		return true
	}
	return false
}

// isInManualStep returns whether the rollout of the box is in a step that only a user ends.
func isInManualStep(box *model.ModelBox) bool {
	rollout := rolloutOf(box)
	if rollout.Step == nil || box.Spec.Rollout == nil {
		return false
	}
	step := int(*rollout.Step)
	return step <= len(box.Spec.Rollout.Steps) && box.Spec.Rollout.Steps[step-1].Pause == modelv1.PauseManual
}
