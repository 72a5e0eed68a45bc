// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"regexp"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
)

// missingReference matches what a kubelet says of a volume whose ConfigMap, Secret or key of one is not there.
var missingReference = regexp.MustCompile(`(configmap|secret) "[^"]*" not found|references non-existent (config|secret) key`)

// LastingFailureOf returns why the pod, which is not ready, will not run, nil where it may yet. It then also returns after how long
// that is to be asked again although nothing happens, 0 for never.
func LastingFailureOf(pod *corev1.Pod, observed *Observation, maxRestarts int32) (*PodFailure, time.Duration) {
	if kinds.IsReady(pod) {
		return nil, 0
	}
	if failure := crashesTooOften(pod, maxRestarts); failure != nil {
		return failure, 0
	}
	failure := FailureOfPod(pod, observed)
	if failure == nil {
		return nil, 0
	}
	switch failure.Reason {
	case "InvalidImageName", "ErrImageNeverPull":
		return failure, 0
	case failedMount:
		if !missingReference.MatchString(failure.Message) {
			return nil, 0
		}
	case "ImagePullBackOff", "ErrImagePull", "CreateContainerConfigError", "CreateContainerError":
	default:
		return nil, 0
	}
	// The kubelet tries again: an image is pulled three times, and what is not there yet may be created.
	if left := kinds.UnreadySince(pod).Add(StartTimeout).Sub(observed.Now); left > 0 {
		return nil, left
	}
	return failure, 0
}

// crashesTooOften returns the failure of a container that is not ready, and has ended more often than it may be restarted.
func crashesTooOften(pod *corev1.Pod, maxRestarts int32) *PodFailure {
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range statuses {
			status := &statuses[i]
			crashes, last := status.RestartCount, status.LastTerminationState.Terminated
			if status.State.Terminated != nil {
				last = status.State.Terminated
			}
			if last == nil {
				continue
			}
			if status.State.Running == nil {
				crashes++
			}
			if status.Ready || crashes <= maxRestarts {
				continue
			}
			message := fmt.Sprintf("pod %s, container %s: crashed %s, last exit code %d", pod.Name, status.Name, times(crashes), last.ExitCode)
			if cause := failureOf(last); cause != crashed {
				message += " (" + cause + ")"
			}
			return &PodFailure{crashLooping, message}
		}
	}
	return nil
}

// MaxRestarts is how often a container of a new pod of the box may crash.
func MaxRestarts(box *modelv1.ModelBox) int32 {
	return ptr.Deref(box.Spec.Rollout.MaxRestarts, modelv1.DefaultMaxRestarts)
}

// FailureOfPod returns why the pod does not get ready, nil where it is not known to fail.
func FailureOfPod(pod *corev1.Pod, observed *Observation) *PodFailure {
	f := &podFailures{now: observed.Now, mountFailures: observed.MountFailures, pendingClaims: observed.PendingClaims}
	f.visitPod(pod)
	return f.Worst
}
