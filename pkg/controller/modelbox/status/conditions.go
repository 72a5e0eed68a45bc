// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
)

// verdict is a condition without its bookkeeping.
type verdict reconciler.Verdict

// ConditionsOf computes the conditions of this generation. Those whose status stays the same keep their time.
func ConditionsOf(box *modelv1.ModelBox, observed *Observation) []metav1.Condition {
	applied := AppliedVerdict(observed)
	rollout := rolloutVerdict(box, observed)
	verdicts := []struct {
		condition string
		verdict
	}{
		{modelv1.ConditionReady, readyVerdict(box, observed, applied, rollout)},
		{modelv1.ConditionAvailable, availableVerdict(box, observed)},
		{modelv1.ConditionProgressing, rollout},
		{modelv1.ConditionApplied, applied},
	}
	conditions := slices.Clone(box.Status.Conditions)
	for _, v := range verdicts {
		reconciler.SetCondition(&conditions, box.Generation, v.condition, reconciler.Verdict{
			IsTrue: v.IsTrue, Reason: ConditionReason(v.Reason), Message: v.Message,
		})
	}
	return withStalled(conditions, box.Generation, applied, stalledVerdict(box, observed))
}

// withStalled adds the condition that the box gets no further until a user acts, or removes it. Tools that wait for any kind of
// object look for two conditions: this one and Ready.
func withStalled(conditions []metav1.Condition, generation int64, applied, rollout verdict) []metav1.Condition {
	stalled := rollout
	if slices.Contains(lastingReasons, applied.Reason) {
		stalled = applied
	}
	if !slices.Contains(lastingReasons, stalled.Reason) {
		meta.RemoveStatusCondition(&conditions, modelv1.ConditionStalled)
		return conditions
	}
	reconciler.SetCondition(&conditions, generation, modelv1.ConditionStalled, reconciler.Verdict{
		IsTrue: true, Reason: stalled.Reason, Message: stalled.Message,
	})
	return conditions
}

// lastingReasons are those that do not pass by waiting.
var lastingReasons = []string{
	modelv1.ReasonNotOwned,
	modelv1.ReasonForbidden,
	modelv1.ReasonInvalid,
	modelv1.ReasonRejected,
	modelv1.ReasonNotServed,
	modelv1.ReasonProgressDeadlineExceeded,
	modelv1.ReasonRolledBack,
	modelv1.ReasonRolloutFailed,
	modelv1.ReasonResizeInfeasible,
	modelv1.ReasonJobFailed,
}

// stalledVerdict is the verdict of the rollout, except for a rollout that is being rolled back, which will not become what the box
// says either.
func stalledVerdict(box *modelv1.ModelBox, observed *Observation) verdict {
	rollout := workloadVerdict(box, observed)
	if failed := failedVerdict(box, observed, rollout); failed != nil {
		return *failed
	}
	return rollout
}

func AppliedVerdict(observed *Observation) verdict {
	switch {
	case len(observed.Failures) > 0:
		return verdict{false, children.Classify(observed.Failures[0]).Reason, describe(observed.Failures)}
	case len(observed.Pending) > 0:
		return verdict{false, modelv1.ReasonPaused, "the box is paused; not up to date: " + strings.Join(observed.Pending, ", ")}
	case len(observed.Ignored) > 0:
		return verdict{true, modelv1.ReasonApplied, "all children are up to date; ignored drift: " + describeIgnored(observed.Ignored)}
	default:
		return verdict{true, modelv1.ReasonApplied, "all children are up to date"}
	}
}

// describeIgnored names fields of children that other managers have set.
func describeIgnored(ignored []children.IgnoredDrift) string {
	var described []string
	for _, child := range ignored {
		described = append(described, fmt.Sprintf("%s of %s %s", fields.Names(child.Fields), child.Kind, child.Name))
	}
	return strings.Join(described, "; ")
}

// rolloutVerdict is True while the controller of the workload works on a rollout, or takes it back. One that is paused, that makes
// no progress, or that has failed does not get further.
func rolloutVerdict(box *modelv1.ModelBox, observed *Observation) verdict {
	rollout := workloadVerdict(box, observed)
	failed := failedVerdict(box, observed, rollout)
	switch {
	case failed == nil:
		return rollout
	case failed.Reason == modelv1.ReasonRolledBack && (rollout.IsTrue || !isTakenBack(box, observed.Rollout.Status)):
		return verdict{true, modelv1.ReasonProgressing, failed.Message}
	case failed.Reason == modelv1.ReasonRolledBack && rollout.Reason == modelv1.ReasonProgressDeadlineExceeded:
		// After a restart, this reason says that the rollback was overdue.
		return verdict{false, rollout.Reason, failed.Message}
	default:
		return *failed
	}
}

// workloadVerdict is how the rollout of the workload gets on.
func workloadVerdict(box *modelv1.ModelBox, observed *Observation) verdict {
	if observed.Rollout.AwaitedJob != "" {
		return verdict(kinds.Progressing("%s", observed.Rollout.AwaitedJob))
	}
	if observed.AwaitsReferences {
		return verdict(kinds.Progressing("waiting for the hashes of the ConfigMaps and Secrets that the pods refer to"))
	}
	workload := observed.Workload
	if lost := observed.LostJob; workload == nil && lost != nil {
		return verdict(kinds.LostJob(lost))
	}
	if workload == nil {
		return verdict(kinds.Progressing("there is no %s yet", box.Spec.Workload))
	}
	if observed.Resize.isInPlace() {
		return resizeVerdict(observed.Resize.Status, workload)
	}
	rollout := verdict(workload.Rollout())
	if resize := observed.Resize.Status; resize != nil {
		rollout.Message += "; the pods could not be resized in place: " + resize.Reason + ": " + resize.Message
	}
	if rollout.Reason == modelv1.ReasonProgressDeadlineExceeded && observed.Rollout.isIn(modelv1.RolloutProgressing) {
		rollout = verdict(kinds.Progressing("the rollout is tried again: %s", rollout.Message))
	}
	if steps := stepsVerdict(box, observed, rollout); steps != nil {
		return *steps
	}
	if pause := workload.Pause(); pause != nil && !isStopped(box) && !observed.Rollout.isIn(modelv1.RolloutPaused) && !observed.Rollout.isInSteps() {
		rollout.Message = fmt.Sprintf("%s; %s", rollout.Message, pause.MessageOf(workload))
		if rollout.IsTrue && pause.StopsRollout {
			rollout.IsTrue, rollout.Reason = false, pause.Reason
		}
	}
	if rollout.IsTrue && observed.Progress.IsOverdue {
		rollout.IsTrue, rollout.Reason = false, modelv1.ReasonProgressDeadlineExceeded
		rollout.Message = fmt.Sprintf("%s %q has timed out progressing: %s", workload.KindName(), workload.GetName(), rollout.Message)
	}
	return rollout
}

func availableVerdict(box *modelv1.ModelBox, observed *Observation) verdict {
	if lost := observed.LostJob; observed.Workload == nil && lost != nil {
		return verdict(kinds.JobAvailability(kinds.LostJob(lost)))
	}
	if observed.Workload == nil {
		return verdict{false, modelv1.ReasonProgressing, fmt.Sprintf("there is no %s yet", box.Spec.Workload)}
	}
	return verdict(observed.Workload.Availability())
}

// readyVerdict is True only for this generation: what was applied, rolled out and made reachable is what the box
// says now.
func readyVerdict(box *modelv1.ModelBox, observed *Observation, applied, rollout verdict) verdict {
	found := FindPodFailures(box, observed)
	failure := Worse(observed.CreationFailure, found.Worst)
	if failure != nil && failure.Reason == modelv1.ReasonProgressing && failure.Reason != rollout.Reason {
		failure = nil // pods that make progress are not why the rollout makes none
	}
	var earlier int32
	if observed.Workload != nil {
		earlier = observed.Workload.EarlierPods(observed.Pods)
	}
	unreachable, notes := exposureVerdict(observed)
	switch {
	case applied.Reason == modelv1.ReasonPaused:
		return applied
	case !applied.IsTrue:
		return verdict{false, modelv1.ReasonNotApplied, reasonAndMessage(applied)}
	case observed.Rollout.isIn(modelv1.RolloutRolledBack):
		return stalledVerdict(box, observed)
	case rollout.Reason != modelv1.ReasonRolloutComplete && failure != nil:
		return verdict{false, settledReason(box, failure), failure.Message}
	case rollout.Reason != modelv1.ReasonRolloutComplete:
		return verdict{false, rollout.Reason, rollout.Message}
	case failure != nil && box.Spec.Workload == modelv1.WorkloadCronJob: // The run does not begin, and has not failed either.
		return verdict{false, failure.Reason, failure.Message}
	case found.unsettled != nil:
		return verdict{false, found.unsettled.Reason, found.unsettled.Message}
	case earlier > 0:
		return verdict{false, modelv1.ReasonProgressing, describeEarlierPods(earlier, observed.Workload)}
	case awaitsLoadBalancer(observed.Service):
		return verdict{false, modelv1.ReasonLoadBalancerPending, "the Service has no address from a load balancer yet"}
	case unreachable != nil:
		return *unreachable
	case isStopped(box) && kinds.HasScaledToZero(observed.Autoscaler):
		return verdict{true, modelv1.ReasonScaledToZero, joinNotes("the autoscaler has scaled the box to 0 pods", kinds.DescribeAutoscaler(observed.Autoscaler))}
	case isStopped(box) && box.Spec.Workload == modelv1.WorkloadCronJob:
		return verdict{true, modelv1.ReasonStopped, "the box is stopped: its CronJob is suspended"}
	case isStopped(box):
		return verdict{true, modelv1.ReasonStopped, "the box is stopped: it asks for 0 replicas"}
	case box.Spec.Workload == modelv1.WorkloadJob:
		return verdict{true, modelv1.ReasonComplete, joinNotes(rollout.Message, notes...)}
	default:
		notes = append(notes, kinds.DescribeAutoscaler(observed.Autoscaler), describeUnattached(box, observed.Pods))
		return verdict{true, modelv1.ReasonReady, joinNotes(rollout.Message, notes...)}
	}
}

// joinNotes returns the message with the notes that are not empty.
func joinNotes(message string, notes ...string) string {
	for _, note := range notes {
		if note != "" {
			message += "; " + note
		}
	}
	return message
}

// exposureVerdict returns why the box cannot be reached from outside as asked, nil where nothing is known to be in the way, and
// what is to be known all the same.
func exposureVerdict(observed *Observation) (*verdict, []string) {
	notReady, ingressNote := kinds.IngressVerdict(observed.Ingress, observed.IngressClass)
	if notReady != nil {
		return (*verdict)(notReady), nil
	}
	notReady, httpRouteNote := kinds.HTTPRouteVerdict(observed.HTTPRoute)
	if notReady != nil {
		return (*verdict)(notReady), nil
	}
	notReady, grpcRouteNote := kinds.GRPCRouteVerdict(observed.GRPCRoute)
	if notReady != nil {
		return (*verdict)(notReady), nil
	}
	return nil, []string{ingressNote, httpRouteNote, grpcRouteNote}
}

// settledReason is the reason of the failure, except for an image that a kubelet tries to pull again. The kubelet has been waiting
// for that and will be waiting again, so that nothing has changed.
func settledReason(box *modelv1.ModelBox, failure *PodFailure) string {
	last := meta.FindStatusCondition(box.Status.Conditions, modelv1.ConditionReady)
	if failure.Reason == "ErrImagePull" && last != nil && last.Reason == "ImagePullBackOff" {
		return last.Reason
	}
	return failure.Reason
}

// isStopped returns whether the box asks for no pods.
func isStopped(box *modelv1.ModelBox) bool {
	if cronJob := box.Spec.CronJob; cronJob != nil && box.Spec.Workload == modelv1.WorkloadCronJob {
		return ptr.Deref(cronJob.Suspend, false)
	}
	return box.Spec.Replicas != nil && *box.Spec.Replicas == 0
}

func awaitsLoadBalancer(service *corev1.Service) bool {
	return service != nil && service.Spec.Type == corev1.ServiceTypeLoadBalancer && len(service.Status.LoadBalancer.Ingress) == 0
}
