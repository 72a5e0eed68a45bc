// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/boxview"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// maxToldSteps is how many steps of a rollout a warning describes.
const maxToldSteps = 5

// stepWeightWarnings warns about the weights of steps that the number of pods rounds. With a route, the shares of the traffic do not
// depend on the number of pods. A DaemonSet has as many pods as there are nodes for it, which the box does not say.
func stepWeightWarnings(box *model.ModelBox, path *field.Path) []string {
	rollout, replicas := box.Spec.Rollout, replicasOf(box)
	if rollout == nil || ptr.Deref(rollout.Type, "") != model.RolloutCanary || replicas == 0 || box.Spec.Workload == model.WorkloadDaemonSet {
		return nil
	}
	served, err := boxview.V1(box)
	if err != nil || modelboxrender.SplitsTraffic(served) {
		return nil
	}
	var warnings []string
	for i := range rollout.Steps {
		weight := rollout.Steps[i].Weight
		share := canaryShareOf(&box.Spec, weight, replicas)
		if share.percent() == weight {
			continue
		}
		if len(warnings) == maxWarnings {
			break
		}
		path := path.Child("rollout", "steps").Index(i).Child("weight")
		warnings = append(warnings, fmt.Sprintf("%s: %s", path, warn.WeightRounded(weight, share.percent(), share.String())))
	}
	return warnings
}

// stepConfigWarnings warns about configs whose files all pods of a StatefulSet or a DaemonSet share, also while only some of them have
// the new revision. The candidate of a Deployment has files of its own.
func stepConfigWarnings(box *model.ModelBox, path *field.Path) []string {
	if box.Spec.Rollout == nil || box.Spec.Rollout.Type == nil || box.Spec.Workload == model.WorkloadDeployment {
		return nil
	}
	var warnings []string
	for i := range box.Spec.Configs {
		if box.Spec.Configs[i].Rollout == model.ConfigRolloutRestart && len(warnings) < maxWarnings {
			warnings = append(warnings, fmt.Sprintf("%s: %s", path.Child("configs").Index(i).Child("rollout"), warn.FilesOfAllSteps))
		}
	}
	return warnings
}

// canaryShare is how many of all pods of a box have the new revision.
type canaryShare struct{ updated, all int32 }

// canaryShareOf returns the pods in a step with the weight of a box with that number of pods, which no route leads shares of the traffic
// to. A StatefulSet has one pod of each name, and a DaemonSet one on each node. A Deployment has a pod of each revision at least.
func canaryShareOf(spec *model.ModelBoxSpec, weight, replicas int32) canaryShare {
	updated := helper.CanaryReplicas(weight, replicas, false)
	if spec.Workload != model.WorkloadDeployment {
		return canaryShare{updated, replicas}
	}
	return canaryShare{updated, updated + helper.StableReplicas(weight, replicas, updated)}
}

func (s canaryShare) percent() int32 { return helper.SharePercent(s.updated, s.all) }

func (s canaryShare) String() string { return fmt.Sprintf("%d of %s", s.updated, countedPods(s.all)) }

// stepsOfUpdate says whether the pods that an update changes are replaced in steps, and in which ones. Both results are empty for a box
// that has no type of rollouts. obstacle is why a box that has one is not updated in steps.
func stepsOfUpdate(box, old *model.ModelBox) (steps, obstacle string) {
	if box.Spec.Rollout == nil || box.Spec.Rollout.Type == nil {
		return "", ""
	}
	rollout := old.Status.Rollout
	if rollout == nil || rollout.Stable == nil {
		return "", warn.NoStableRevision
	}
	served, err := boxview.V1(box)
	if err != nil {
		return "", ""
	}
	if hash, err := modelboxrender.PodsHash(served); err != nil || hash == rollout.Stable.PodsHash {
		return "", "" // The pods that serve get no new revision.
	}
	if !modelboxrender.SplitsTraffic(served) && box.Spec.Workload == model.WorkloadDeployment && !slices.EqualFunc(box.Spec.Ports, old.Spec.Ports, haveSameTarget) {
		return "", warn.OtherTargetPorts
	}
	replicas := replicasOf(box)
	switch {
	case isWorkloadAutoscaled(old):
		replicas = *old.Status.DesiredReplicas
	case box.Spec.Workload == model.WorkloadDaemonSet:
		replicas = old.Status.Replicas
	}
	if modelboxrender.IsBlueGreen(served) {
		return describeBlueGreen(served, replicas) + describeChecks(box), ""
	}
	return describeCanary(box, modelboxrender.SplitsTraffic(served), replicas) + describeChecks(box), ""
}

func haveSameTarget(a, b corev1.ServicePort) bool {
	return a.Name == b.Name && a.Protocol == b.Protocol && a.TargetPort == b.TargetPort
}

// describeCanary says what each step of a rollout is.
func describeCanary(box *model.ModelBox, isSplit bool, replicas int32) string {
	steps := box.Spec.Rollout.Steps
	var told []string
	for i := range steps[:min(len(steps), maxToldSteps)] {
		step := &steps[i]
		share := canaryShareOf(&box.Spec, step.Weight, replicas)
		text := fmt.Sprintf("%s (%d%% of the traffic)", share, share.percent())
		if isSplit {
			text = fmt.Sprintf("%d%% of the traffic", step.Weight)
		}
		told = append(told, text+describePause(box.Name, step.Pause))
	}
	switch further := len(steps) - maxToldSteps; {
	case further == 1:
		told = append(told, "1 more step")
	case further > 1:
		told = append(told, fmt.Sprintf("%d more steps", further))
	}
	return strings.Join(append(told, "all"), ", then ")
}

// describeBlueGreen says how long all pods of the new revision run beside the others.
func describeBlueGreen(box *modelv1.ModelBox, replicas int32) string {
	var pauses []string
	for i := range box.Spec.Rollout.Steps {
		if pause := describePause(box.Name, box.Spec.Rollout.Steps[i].Pause); pause != "" && len(pauses) < maxToldSteps {
			pauses = append(pauses, pause)
		}
	}
	beside, end := " beside the others", "all"
	if modelboxrender.SplitsTraffic(box) {
		beside, end = " without traffic", "all of the traffic"
	}
	return countedPods(replicas) + " of the new revision" + beside + strings.Join(pauses, ", then") + ", then " + end
}

// describePause says when the step of a rollout of the box ends, as the end of a sentence.
func describePause(box, pause string) string {
	switch pause {
	case "":
		return ""
	case modelv1.PauseManual:
		return fmt.Sprintf(" until %q", "kubectl modelbox promote "+box)
	default:
		return " for " + pause
	}
}

// describeChecks names the checks of a rollout, as the end of a sentence. It is empty if there are none.
func describeChecks(box *model.ModelBox) string {
	var names []string
	for _, check := range checksOf(box) {
		names = append(names, check.Name)
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return "; each step waits for check " + names[0]
	default:
		return "; each step waits for checks " + strings.Join(names, ", ")
	}
}
