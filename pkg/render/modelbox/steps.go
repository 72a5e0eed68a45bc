// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"errors"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// Steps is a rollout in steps that is under way. A Deployment has the stable pods, and the candidate Deployment beside it the pods
// of the new revision, until the steps are over. Then the Deployment gets the pods of the new revision as well. A StatefulSet has
// both, and the partition of its update between them. A DaemonSet has both too: until the steps are over, its pods get the new revision
// when the controller deletes them.
type Steps struct {
	// Number is the number of the current step, from 1. It is one more than Count while the new revision takes the place of the
	// stable one.
	Number int32
	// Replicas is the number of pods that the box, or an autoscaler of its workload, asks for. For a DaemonSet, it is the number of nodes
	// that are to run a pod.
	Replicas int32

	box *modelv1.ModelBox
	// stable is the box with the stable pods.
	stable *modelv1.ModelBox
	// hash is PodsHash of the box.
	hash string
	// stableAvailable is the number of available pods of the Deployment of the box.
	stableAvailable int32
	// isReplacing is true if the steps are over, and the Deployment has the pod template of the new revision.
	isReplacing bool
	// isReplaced is true if the Deployment then no longer has stable pods.
	isReplaced bool
}

// KeepsStable returns whether the workload of the box keeps the record of the stable pods while the box asks for other pods.
func KeepsStable(box *modelv1.ModelBox) bool {
	rollout := box.Spec.Rollout
	return rollout != nil && (rollout.OnFailure == modelv1.RolloutFailureRollback || rollout.Type != nil || box.Spec.Before != nil)
}

// SplitsTraffic returns whether the traffic of the box is led to its stable pods and to its candidate apart from each other.
// Otherwise, the Service leads to all pods.
func SplitsTraffic(box *modelv1.ModelBox) bool {
	if box.Spec.Workload != modelv1.WorkloadDeployment || len(box.Spec.Ports) == 0 {
		return false
	}
	return IsBlueGreen(box) || box.Spec.IsRouted()
}

// IsBlueGreen returns whether the rollouts of the box have the type BlueGreen.
func IsBlueGreen(box *modelv1.ModelBox) bool {
	rollout := box.Spec.Rollout
	return rollout != nil && ptr.Deref(rollout.Type, "") == modelv1.RolloutBlueGreen
}

// asksForSteps returns whether a rollout of the box is to be in steps.
func asksForSteps(box *modelv1.ModelBox) bool {
	if box.Spec.Rollout == nil || box.Spec.Rollout.Type == nil || ptr.Deref(box.Spec.Replicas, 1) == 0 {
		return false
	}
	switch box.Spec.Workload {
	case modelv1.WorkloadDeployment:
		return true
	case modelv1.WorkloadStatefulSet, modelv1.WorkloadDaemonSet:
		return !IsBlueGreen(box)
	default:
		return false
	}
}

// StepsOf returns the rollout in steps that the box is in, nil if it is in none. The error is the reason if the box asks for steps
// and its rollout cannot have any.
func StepsOf(box *modelv1.ModelBox, live Live) (*Steps, error) {
	if !asksForSteps(box) {
		return nil, nil // without the cost of a plan
	}
	plan, err := planRollout(box, live)
	if err != nil {
		return nil, err
	}
	return plan.steps, plan.obstacle
}

// newSteps returns the rollout of the box in steps. The stable pods are the pods of the stable box. hash is PodsHash of the box.
func newSteps(box, stable *modelv1.ModelBox, hash string, live Live) (*Steps, error) {
	if stable.Spec.Workload != box.Spec.Workload {
		return nil, errors.New("the stable pods belong to a " + string(stable.Spec.Workload))
	}
	withStable, err := rolledBackTo(box, stable)
	if err != nil {
		return nil, err
	}
	if sharesReplicas(box) && !apiequality.Semantic.DeepEqual(withStable.Spec.Ports, box.Spec.Ports) {
		return nil, errors.New("the new revision has other target ports, and one Service leads to all pods")
	}
	steps := &Steps{Number: 1, Replicas: replicasBeside(box, live), box: box, stable: withStable, hash: hash}
	if rollout := box.Status.Rollout; rollout.PodsHash == hash {
		steps.Number = min(max(1, ptr.Deref(rollout.Step, 1)), steps.Count()+1)
	}
	if deployment, isDeployment := live.Workload.(*appsv1.Deployment); isDeployment {
		steps.stableAvailable = deployment.Status.AvailableReplicas
		if steps.IsOver() && deployment.Annotations[modelv1.RolloutStepAnnotation] == strconv.Itoa(int(steps.Number)) {
			_, hasStablePods := deployment.Annotations[modelv1.RolledBackAnnotation]
			steps.isReplacing, steps.isReplaced = !hasStablePods, steps.hasReplaced(deployment)
		}
	}
	return steps, nil
}

// replicasBeside returns how many pods the box is to have.
func replicasBeside(box *modelv1.ModelBox, live Live) int32 {
	if box.Spec.Workload == modelv1.WorkloadDaemonSet {
		if set, isDaemonSet := live.Workload.(*appsv1.DaemonSet); isDaemonSet {
			return set.Status.DesiredNumberScheduled
		}
		return 0
	}
	if scaling := ScalingBeside(box, live); scaling.Autoscaled != nil {
		return *scaling.Autoscaled
	}
	return ptr.Deref(box.Spec.Replicas, 1)
}

// hasReplaced returns whether the live Deployment, which was written when the steps were over, has replaced its stable pods. Then it gets
// all of its pods.
func (s *Steps) hasReplaced(live *appsv1.Deployment) bool {
	replicas, status := ptr.Deref(live.Spec.Replicas, 1), &live.Status
	return replicas >= s.Replicas ||
		status.ObservedGeneration >= live.Generation && status.UpdatedReplicas == replicas && status.Replicas == replicas && status.AvailableReplicas == replicas
}

// sharesReplicas returns whether pods of the candidate take the place of stable pods, so that both have their share of the traffic of
// the one Service.
func sharesReplicas(box *modelv1.ModelBox) bool {
	return box.Spec.Workload == modelv1.WorkloadDeployment && !SplitsTraffic(box) && !IsBlueGreen(box)
}

// Count is the number of steps.
func (s *Steps) Count() int32 { return helper.StepCount(len(s.box.Spec.Rollout.Steps)) }

// IsOver returns whether the steps are over, so that the new revision takes the place of the stable one.
func (s *Steps) IsOver() bool { return s.Number > s.Count() }

// Step returns the current step, and an empty one if the box has none, or if the steps are over.
func (s *Steps) Step() modelv1.ModelBoxRolloutStep {
	if steps := s.box.Spec.Rollout.Steps; int(s.Number) <= len(steps) {
		return steps[s.Number-1]
	}
	return modelv1.ModelBoxRolloutStep{}
}

// NewReplicas is the number of pods of the new revision in the current step. When the steps are over, it is the number of pods of
// the candidate in the last step.
func (s *Steps) NewReplicas() int32 {
	if IsBlueGreen(s.box) {
		return s.Replicas
	}
	return helper.CanaryReplicas(s.weight(), s.Replicas, SplitsTraffic(s.box))
}

// candidateReplicas returns the number of pods of the candidate. If it is to have fewer pods than it has, because a change of the box
// has lowered the weight, it keeps its pods until its traffic has moved, or until other pods serve in their place.
func (s *Steps) candidateReplicas() int32 {
	replicas, candidate := s.NewReplicas(), s.currentCandidate()
	switch traffic := s.box.Status.Rollout.Traffic; {
	case candidate == nil:
		return replicas
	case sharesReplicas(s.box):
		return max(replicas, min(candidate.AvailableReplicas, s.Replicas-s.stableAvailable))
	case traffic != nil && traffic.Service == modelv1.TrafficToStable:
		return max(replicas, min(candidate.AvailableReplicas, helper.CanaryReplicas(traffic.Weight, s.Replicas, true)))
	case traffic != nil && traffic.Service == modelv1.TrafficToCandidate:
		return s.Replicas
	default:
		return replicas
	}
}

// weight returns the weight of the current step. When the steps are over, it is the weight of the last one.
func (s *Steps) weight() int32 {
	return s.box.Spec.Rollout.Steps[min(s.Number, s.Count())-1].Weight
}

// endsAtAll returns whether the last step gives the candidate all of the traffic.
func (s *Steps) endsAtAll() bool {
	steps := s.box.Spec.Rollout.Steps
	return len(steps) > 0 && steps[len(steps)-1].Weight == 100
}

// HasStablePods returns whether the Deployment of the box has the stable pods: until the steps are over, and until the Service leads to
// other pods as well, which takes some time. With the type BlueGreen, the candidate gets the traffic first. The candidate of a former
// revision makes room for the stable pods, also if the steps are left out. A Deployment that has the new revision keeps it.
func (s *Steps) HasStablePods() bool {
	if s.box.Spec.Workload != modelv1.WorkloadDeployment {
		return false
	}
	if s.HasFormerCandidate() {
		return true
	}
	if !s.IsOver() || !SplitsTraffic(s.box) {
		return !s.IsOver()
	}
	rollout := s.box.Status.Rollout
	switch {
	case s.isReplacing:
		return false
	case rollout.Traffic == nil:
		return IsBlueGreen(s.box)
	case rollout.Traffic.Service == modelv1.TrafficToStable:
		return true
	default:
		return rollout.Traffic.Service == s.LastTraffic() && rollout.NextStepAt != nil
	}
}

// LastTraffic returns which pods the Service leads to when the steps are over, until the Deployment has the pods of the new revision: to
// the candidate if it has all pods. A candidate that has had all of the traffic keeps it.
func (s *Steps) LastTraffic() modelv1.TrafficTarget {
	if IsBlueGreen(s.box) || s.currentCandidate() != nil && s.endsAtAll() {
		return modelv1.TrafficToCandidate
	}
	return modelv1.TrafficToAll
}

// primary returns the box to render the children from that it also has without steps.
func (s *Steps) primary() *modelv1.ModelBox {
	if s.HasStablePods() {
		return s.stable
	}
	return s.box
}

// StartsCandidate returns whether the candidate Deployment is to be there: where it is to have no share in the traffic of the Service,
// only once that leads to the stable pods. When the steps are over, no other candidate starts than one that gets all of the traffic.
func (s *Steps) StartsCandidate() bool {
	if s.box.Spec.Workload != modelv1.WorkloadDeployment || s.HasFormerCandidate() {
		return false
	}
	rollout := s.box.Status.Rollout
	if s.IsOver() && rollout.Candidate == nil && !(SplitsTraffic(s.box) && IsBlueGreen(s.box)) {
		return false
	}
	return !SplitsTraffic(s.box) || rollout.Traffic != nil || rollout.Candidate != nil
}

// HasFormerCandidate returns whether there is the candidate of a former revision. It stays as it is until the Deployment has all of the
// stable pods again, because it may serve.
func (s *Steps) HasFormerCandidate() bool {
	candidate := s.box.Status.Rollout.Candidate
	return candidate != nil && candidate.PodsHash != s.hash
}

// currentCandidate returns the candidate of this revision, nil if there is none.
func (s *Steps) currentCandidate() *modelv1.ModelBoxRolloutCandidate {
	if s.HasFormerCandidate() {
		return nil
	}
	return s.box.Status.Rollout.Candidate
}

// primaryReplicas returns the number of pods of the Deployment, nil for the number of the box. When the steps are over, the
// Deployment first replaces its stable pods. Otherwise, it would start more of them.
func (s *Steps) primaryReplicas() *int32 {
	if !sharesReplicas(s.box) || s.isReplaced {
		return nil
	}
	var available int32
	if candidate := s.currentCandidate(); candidate != nil {
		available = candidate.AvailableReplicas
	}
	return ptr.To(helper.StableReplicas(s.weight(), s.Replicas, available))
}

// replacesOnDelete returns whether the pods of the DaemonSet get the new revision only when they are deleted.
func (s *Steps) replacesOnDelete() bool {
	return s != nil && s.box.Spec.Workload == modelv1.WorkloadDaemonSet && !s.IsOver()
}

// partition returns the partition of the update of the StatefulSet, 0 for none.
func (s *Steps) partition() int32 {
	if s.box.Spec.Workload != modelv1.WorkloadStatefulSet || s.IsOver() {
		return 0
	}
	return max(0, s.Replicas-s.NewReplicas())
}

// annotations returns the annotations of the workload about the steps.
func (s *Steps) annotations() map[string]string {
	annotations := map[string]string{modelv1.RolloutStepAnnotation: strconv.Itoa(int(s.Number))}
	if s.HasStablePods() {
		annotations[modelv1.RolledBackAnnotation] = strconv.FormatInt(s.box.Generation, 10)
	}
	return annotations
}

// candidateWeight returns the percentage of the traffic that the route leads to the candidate. After a step with all of the traffic, the
// route leads to the Service of the box again when that leads to the candidate everywhere.
func (p rolloutPlan) candidateWeight() int32 {
	switch {
	case p.steps == nil || !p.steps.StartsCandidate() || p.traffic == nil:
		return 0
	case p.traffic.Service == modelv1.TrafficToStable:
		return min(max(0, p.traffic.Weight), 100)
	case p.traffic.Service == modelv1.TrafficToCandidate && !IsBlueGreen(p.steps.box) && p.steps.HasStablePods():
		return 100
	default:
		return 0
	}
}
