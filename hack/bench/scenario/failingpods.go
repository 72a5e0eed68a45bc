// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// heldGate keeps the pods of a bad release from the simulated nodes, which would start them.
const heldGate = "bench.model.github.com/held"

func isHeld(pod *corev1.Pod) bool { return len(pod.Spec.SchedulingGates) > 0 }

// failure is a way for the pods of a bad release to fail.
type failure struct {
	name string
	// after returns the state of the container of a pod of that age, nil where there is none yet.
	after func(age time.Duration) *corev1.ContainerStatus
}

// failures are the failures that a status shows. The kubelet writes such a status for an image that does not exist, and for a
// container that ends at once. A pod without such a status is never ready.
var failures = []failure{
	{"bad image", func(time.Duration) *corev1.ContainerStatus {
		return &corev1.ContainerStatus{State: waitingFor("ImagePullBackOff", "Back-off pulling image")}
	}},
	{"crash", func(age time.Duration) *corev1.ContainerStatus {
		return &corev1.ContainerStatus{
			State:                waitingFor("CrashLoopBackOff", "back-off restarting failed container"),
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Error", ExitCode: 3}},
			RestartCount:         restartsAfter(age),
		}
	}},
	{"never ready", func(time.Duration) *corev1.ContainerStatus { return nil }},
}

func waitingFor(reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
}

// The back-off of the kubelet before it restarts a container that has ended.
const (
	firstBackOff   = 10 * time.Second
	longestBackOff = 5 * time.Minute
)

// restartsAfter returns how often the kubelet has restarted a container by then that ends at once.
func restartsAfter(age time.Duration) int32 {
	restarts := int32(0)
	for backOff := firstBackOff; age >= backOff; backOff = min(2*backOff, longestBackOff) {
		age -= backOff
		restarts++
	}
	return restarts
}

// failInterval is how often held pods are looked at.
const failInterval = 250 * time.Millisecond

// failingPods plays the kubelet of the pods of bad releases.
type failingPods struct {
	serving *serving
	// failures is how the pods of each application fail.
	failures map[types.NamespacedName]failure
	cluster  kubernetes.Interface
	// first is when each pod was seen first, and restarts is what its status says of that.
	first    map[types.UID]time.Time
	restarts map[types.UID]int32
}

// run plays until ctx is done.
func (f *failingPods) run(ctx context.Context) error {
	for {
		for key, pods := range f.serving.podsOf(isHeld) {
			for _, pod := range pods {
				if err := f.fail(ctx, f.failures[key], pod, time.Now()); err != nil && ctx.Err() == nil {
					return err
				}
			}
		}
		select {
		case <-time.After(failInterval):
		case <-ctx.Done():
			return nil
		}
	}
}

// fail writes the status that a pod has now.
func (f *failingPods) fail(ctx context.Context, failure failure, pod *corev1.Pod, now time.Time) error {
	first, isKnown := f.first[pod.UID]
	if !isKnown {
		first, f.first[pod.UID] = now, now
	}
	status := failure.after(now.Sub(first))
	if restarts, isWritten := f.restarts[pod.UID]; status == nil || isWritten && restarts == status.RestartCount {
		return nil
	}
	status.Name, status.Image = pod.Spec.Containers[0].Name, pod.Spec.Containers[0].Image
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"containerStatuses": []corev1.ContainerStatus{*status}}})
	if err != nil {
		return fmt.Errorf("encoding the status of a pod: %w", err)
	}
	_, err = f.cluster.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("writing the status of a pod: %w", err)
	}
	f.restarts[pod.UID] = status.RestartCount
	return nil
}
