// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/informers"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
)

// StartTimeout is how long a pod may take to start before the delay is reported as a failure.
const StartTimeout = 30 * time.Second

// BackOffReset is how long a container has to run before its kubelet restarts it without delay again.
const BackOffReset = 10 * time.Minute

// crashed is how runtimes call the end of a container that failed on its own.
const crashed = "Error"

// crashLooping is how a kubelet calls the delay before it restarts a container that has ended again.
const crashLooping = "CrashLoopBackOff"

// The reasons of failures that are our own words, and not words of the cluster.
const (
	ContainersNotReady = "ContainersNotReady"
	ContainerCreating  = "ContainerCreating"
)

// failedMount is why a pod does not run that cannot have one of its volumes.
const failedMount = informers.FailedMount

// PodFailure is why a pod does not run, in the words of the cluster.
type PodFailure struct {
	Reason  string
	Message string
}

// FailureOrder lists the reasons from the worst to the least: what will not go away by waiting comes first.
var FailureOrder = []string{
	"InvalidImageName",
	"CreateContainerConfigError",
	"CreateContainerError",
	"RunContainerError",
	"ErrImageNeverPull",
	failedMount,
	"ImagePullBackOff",
	"ErrImagePull",
	crashLooping,
	"OOMKilled",
	crashed,
	corev1.PodReasonUnschedulable,
	ContainerCreating,
	ContainersNotReady,
	modelv1.ReasonProgressing,
}

// Worse returns the one of two failures that comes first in failureOrder, the first one when they are alike. Either
// may be nil.
func Worse(a, b *PodFailure) *PodFailure {
	if a == nil || b != nil && rank(b) < rank(a) {
		return b
	}
	return a
}

func rank(failure *PodFailure) int {
	if i := slices.Index(FailureOrder, failure.Reason); i >= 0 {
		return i
	}
	return len(FailureOrder)
}

// podFailures is what is wrong with the pods of a box at a time.
type podFailures struct {
	now           time.Time
	probes        defaultProbes
	mountFailures map[types.UID]string
	pendingClaims map[string]string
	// livenessFailures are the failures of containers that were restarted and have not recovered.
	livenessFailures map[ContainerID]string
	// runsToCompletion says that containers end. Whether that is a failure, their Job decides.
	runsToCompletion bool
	// Worst is the failure that comes first in failureOrder, from the first pod if several have it; nil if no pod fails.
	Worst *PodFailure
	// unsettled is the failure of the first container that is ready and has not run for long enough to have recovered, nil if there
	// is none.
	unsettled *PodFailure
	// RecheckAfter is how soon a step that only takes its time will count as a failure, 0 for never.
	RecheckAfter time.Duration
}

// FindPodFailures returns what is wrong with the pods of the box.
func FindPodFailures(box *modelv1.ModelBox, observed *Observation) *podFailures {
	f := &podFailures{
		now:           observed.Now,
		probes:        defaultProbesOf(box, observed.Workload),
		mountFailures: observed.MountFailures,
		pendingClaims: observed.PendingClaims,

		livenessFailures: observed.LivenessFailures,
		runsToCompletion: box.Spec.Workload.RunsToCompletion(),
	}
	for _, pod := range observed.Pods {
		switch {
		case f.runsToCompletion && pod.Labels[batchv1.JobNameLabel] == "": // of an orphaned workload with the name of the box
		case !isReplaced(box, observed.Workload, pod):
			f.visitPod(pod)
		case !kinds.IsReady(pod): // because of what the box said before
			f.report(modelv1.ReasonProgressing, "pod %s is of a former revision and not ready, and will be replaced", pod.Name)
		}
	}
	return f
}

func (f *podFailures) visitPod(pod *corev1.Pod) {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			reason := cmp.Or(condition.Reason, corev1.PodReasonUnschedulable)
			f.report(reason, "pod %s: %s", pod.Name, strings.Join(append([]string{condition.Message}, f.pendingClaimsOf(pod)...), "; "))
		}
	}
	if failure := f.mountFailures[pod.UID]; failure != "" {
		f.report(failedMount, "pod %s: %s", pod.Name, failure)
	}
	for i := range pod.Status.InitContainerStatuses {
		f.visitInitContainer(pod, &pod.Status.InitContainerStatuses[i])
	}
	for i := range pod.Status.ContainerStatuses {
		f.visitContainer(pod, &pod.Status.ContainerStatuses[i])
	}
}

// pendingClaimsOf says which of the claims of the pod have no volume: a scheduler only says that there are some.
func (f *podFailures) pendingClaimsOf(pod *corev1.Pod) []string {
	var pending []string
	for i := range pod.Spec.Volumes {
		if source := pod.Spec.Volumes[i].PersistentVolumeClaim; source != nil && f.pendingClaims[source.ClaimName] != "" {
			pending = append(pending, f.pendingClaims[source.ClaimName])
		}
	}
	return pending
}

// visitInitContainer does not mind one that runs, for that may take long, unless it does so again and again, nor one
// that has done its work.
func (f *podFailures) visitInitContainer(pod *corev1.Pod, status *corev1.ContainerStatus) {
	state := &status.State
	if state.Waiting != nil || state.Terminated != nil && state.Terminated.ExitCode != 0 || state.Running != nil && IsCrashLooping(status) {
		f.visitContainer(pod, status)
	}
}

func (f *podFailures) visitContainer(pod *corev1.Pod, status *corev1.ContainerStatus) {
	report := func(reason, format string, args ...any) {
		message := fmt.Sprintf(format, args...)
		if last := status.LastTerminationState.Terminated; last != nil {
			message = fmt.Sprintf("%s; restarted %s, last exit code %d", message, times(status.RestartCount), last.ExitCode)
			if cause := failureOf(last); cause != crashed && cause != reason {
				message += " (" + cause + ")"
			}
		}
		if failure := f.livenessFailures[ContainerID{pod.UID, status.Name}]; failure != "" {
			message += "; " + failure
		}
		failure := &PodFailure{reason, fmt.Sprintf("pod %s, container %s: %s", pod.Name, status.Name, message)}
		f.Worst = Worse(f.Worst, failure)
		if status.Ready && f.unsettled == nil {
			f.unsettled = failure
		}
	}
	isLooping := IsCrashLooping(status)
	switch waiting, terminated := status.State.Waiting, status.State.Terminated; {
	case terminated != nil && f.runsToCompletion && (terminated.ExitCode == 0 || !isLooping):
	case terminated != nil && isLooping:
		report(crashLooping, "ended with exit code %d", terminated.ExitCode)
	case terminated != nil:
		report(failureOf(terminated), "ended with exit code %d", terminated.ExitCode)
	case waiting != nil && waiting.Reason == ContainerCreating:
		if f.hasTaken(pod.Status.StartTime, StartTimeout) {
			report(ContainerCreating, "still being created after %s", StartTimeout)
		}
	case waiting != nil && waiting.Reason != "" && waiting.Reason != "PodInitializing":
		report(waiting.Reason, "%s", cmp.Or(waiting.Message, waiting.Reason))
	case status.State.Running != nil:
		f.visitRunning(status, isLooping, report)
	}
}

// visitRunning reports on a container that runs and is to become ready. A container that has not failed before makes
// progress until StartTimeout, even if there is something to report.
func (f *podFailures) visitRunning(status *corev1.ContainerStatus, isLooping bool, report func(reason, format string, args ...any)) {
	since := &status.State.Running.StartedAt
	if status.Ready {
		if isLooping && !f.hasTaken(since, TimeToSettle(status.LastTerminationState.Terminated)) {
			report(crashLooping, "runs again")
		}
		return
	}
	silence, last := f.failedDefaultProbe(status), status.LastTerminationState.Terminated
	switch {
	case isLooping:
		report(crashLooping, "%s", cmp.Or(silence, "runs again"))
	case last != nil:
		report(failureOf(last), "%s", cmp.Or(silence, "runs again and is not ready yet"))
	case f.hasTaken(since, StartTimeout):
		report(ContainersNotReady, "%s", cmp.Or(silence, fmt.Sprintf("still not ready after %s: its %s probe does not succeed", StartTimeout, probeOf(status))))
	case silence != "":
		report(modelv1.ReasonProgressing, "%s", silence)
	}
}

// IsCrashLooping returns whether the container has ended at least twice and will be, or was, restarted with a delay. It
// is so between two delays as well, so that the failure does not change each time that the container runs.
func IsCrashLooping(status *corev1.ContainerStatus) bool {
	ends, last := status.RestartCount, status.LastTerminationState.Terminated
	if status.State.Terminated != nil {
		ends, last = ends+1, status.State.Terminated
	}
	return ends > 1 && last != nil && last.FinishedAt.Sub(last.StartedAt.Time) < BackOffReset
}

// TimeToSettle is for how long a container that is restarted again and again has to run before it has recovered: for longer
// than it ran the last time, so that it does not recover between two restarts of a liveness probe that fails each time.
func TimeToSettle(last *corev1.ContainerStateTerminated) time.Duration {
	return min(last.FinishedAt.Sub(last.StartedAt.Time)+StartTimeout, BackOffReset)
}

// failureOf is why a container ended. A runtime that did not see the end says Unknown, which means something else in the status of
// a box.
func failureOf(terminated *corev1.ContainerStateTerminated) string {
	if terminated.Reason == "" || terminated.Reason == "Unknown" {
		return crashed
	}
	return terminated.Reason
}

// hasTaken returns whether what began then has taken longer than it may. If not, it will be looked at again.
func (f *podFailures) hasTaken(since *metav1.Time, limit time.Duration) bool {
	if since.IsZero() {
		return false
	}
	left := limit - f.now.Sub(since.Time)
	if left <= 0 {
		return true
	}
	f.RecheckAfter = reconciler.Soonest(f.RecheckAfter, left)
	return false
}

func (f *podFailures) report(reason, format string, args ...any) {
	f.Worst = Worse(f.Worst, &PodFailure{reason, fmt.Sprintf(format, args...)})
}

// isReplaced returns whether the workload of the box replaces the pod by one of another revision, whatever becomes of the pod.
// Others than StatefulSets do so without waiting for it.
func isReplaced(box *modelv1.ModelBox, workload kinds.Workload, pod *corev1.Pod) bool {
	set, isStatefulSet := workload.(kinds.StatefulSet)
	return isStatefulSet && !box.Spec.Paused && kinds.IsOfFormerRevision(set.StatefulSet, pod)
}
