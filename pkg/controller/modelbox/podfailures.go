// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/informers"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
)

// startTimeout is how long a pod may take to start before the delay is reported as a failure.
const startTimeout = 30 * time.Second

// backOffReset is how long a container has to run before its kubelet restarts it without delay again.
const backOffReset = 10 * time.Minute

// crashed is how runtimes call the end of a container that failed on its own.
const crashed = "Error"

// crashLooping is how a kubelet calls the delay before it restarts a container that has ended again.
const crashLooping = "CrashLoopBackOff"

// The reasons of failures that are our own words, and not words of the cluster.
const (
	containersNotReady = "ContainersNotReady"
	containerCreating  = "ContainerCreating"
)

// failedMount is why a pod does not run that cannot have one of its volumes.
const failedMount = informers.FailedMount

// podFailure is why a pod does not run, in the words of the cluster.
type podFailure struct {
	reason  string
	message string
}

// failureOrder lists the reasons from the worst to the least: what will not go away by waiting comes first.
var failureOrder = []string{
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
	containerCreating,
	containersNotReady,
	modelv1.ReasonProgressing,
}

// worse returns the one of two failures that comes first in failureOrder, the first one when they are alike. Either
// may be nil.
func worse(a, b *podFailure) *podFailure {
	if a == nil || b != nil && rank(b) < rank(a) {
		return b
	}
	return a
}

func rank(failure *podFailure) int {
	if i := slices.Index(failureOrder, failure.reason); i >= 0 {
		return i
	}
	return len(failureOrder)
}

// podFailures is what is wrong with the pods of a box at a time.
type podFailures struct {
	now           time.Time
	probes        defaultProbes
	mountFailures map[types.UID]string
	pendingClaims map[string]string
	// livenessFailures are the failures of containers that were restarted and have not recovered.
	livenessFailures map[containerID]string
	// worst is the failure that comes first in failureOrder, from the first pod if several have it; nil if no pod fails.
	worst *podFailure
	// unsettled is the failure of the first container that is ready and has not run for long enough to have recovered, nil if there
	// is none.
	unsettled *podFailure
	// recheckAfter is how soon a step that only takes its time will count as a failure, 0 for never.
	recheckAfter time.Duration
}

// findPodFailures returns what is wrong with the pods of the box.
func findPodFailures(box *modelv1.ModelBox, observed *observation) *podFailures {
	f := &podFailures{
		now:           observed.now,
		probes:        defaultProbesOf(box, observed.workload),
		mountFailures: observed.mountFailures,
		pendingClaims: observed.pendingClaims,

		livenessFailures: observed.livenessFailures,
	}
	for _, pod := range observed.pods {
		switch {
		case !isReplaced(box, observed.workload, pod):
			f.visitPod(pod)
		case !isReady(pod): // because of what the box said before
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
	if state.Waiting != nil || state.Terminated != nil && state.Terminated.ExitCode != 0 || state.Running != nil && isCrashLooping(status) {
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
		if failure := f.livenessFailures[containerID{pod.UID, status.Name}]; failure != "" {
			message += "; " + failure
		}
		failure := &podFailure{reason, fmt.Sprintf("pod %s, container %s: %s", pod.Name, status.Name, message)}
		f.worst = worse(f.worst, failure)
		if status.Ready && f.unsettled == nil {
			f.unsettled = failure
		}
	}
	isLooping := isCrashLooping(status)
	switch waiting, terminated := status.State.Waiting, status.State.Terminated; {
	case terminated != nil && isLooping:
		report(crashLooping, "ended with exit code %d", terminated.ExitCode)
	case terminated != nil:
		report(failureOf(terminated), "ended with exit code %d", terminated.ExitCode)
	case waiting != nil && waiting.Reason == containerCreating:
		if f.hasTaken(pod.Status.StartTime, startTimeout) {
			report(containerCreating, "still being created after %s", startTimeout)
		}
	case waiting != nil && waiting.Reason != "" && waiting.Reason != "PodInitializing":
		report(waiting.Reason, "%s", cmp.Or(waiting.Message, waiting.Reason))
	case status.State.Running != nil:
		f.visitRunning(status, isLooping, report)
	}
}

// visitRunning is about a container that runs, and is to become ready. Until it has had its time, and has not failed
// before, it makes progress, whatever there is to say about it.
func (f *podFailures) visitRunning(status *corev1.ContainerStatus, isLooping bool, report func(reason, format string, args ...any)) {
	since := &status.State.Running.StartedAt
	if status.Ready {
		if isLooping && !f.hasTaken(since, timeToSettle(status.LastTerminationState.Terminated)) {
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
	case f.hasTaken(since, startTimeout):
		report(containersNotReady, "%s", cmp.Or(silence, fmt.Sprintf("still not ready after %s: its %s probe does not succeed", startTimeout, probeOf(status))))
	case silence != "":
		report(modelv1.ReasonProgressing, "%s", silence)
	}
}

// isCrashLooping returns whether the container has ended at least twice and will be, or was, restarted with a delay. It
// is so between two delays as well: what is wrong with it does not change each time that it runs.
func isCrashLooping(status *corev1.ContainerStatus) bool {
	ends, last := status.RestartCount, status.LastTerminationState.Terminated
	if status.State.Terminated != nil {
		ends, last = ends+1, status.State.Terminated
	}
	return ends > 1 && last != nil && last.FinishedAt.Sub(last.StartedAt.Time) < backOffReset
}

// timeToSettle is for how long a container that is restarted again and again has to run before it has recovered: for longer
// than it ran the last time, so that it does not recover between two restarts of a liveness probe that fails each time.
func timeToSettle(last *corev1.ContainerStateTerminated) time.Duration {
	return min(last.FinishedAt.Sub(last.StartedAt.Time)+startTimeout, backOffReset)
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
	f.recheckAfter = reconciler.Soonest(f.recheckAfter, left)
	return false
}

func (f *podFailures) report(reason, format string, args ...any) {
	f.worst = worse(f.worst, &podFailure{reason, fmt.Sprintf(format, args...)})
}

// isReplaced returns whether the workload of the box replaces the pod by one of another revision, whatever becomes of the pod.
// Others than StatefulSets do so without waiting for it.
func isReplaced(box *modelv1.ModelBox, workload workload, pod *corev1.Pod) bool {
	set, isStatefulSet := workload.(statefulSetWorkload)
	return isStatefulSet && !box.Spec.Paused && isOfFormerRevision(set.StatefulSet, pod)
}
